//! What can go wrong: one enum, and a newtype over the driver's result codes.

mod driver_error;
mod launch_field;

pub use crate::ffi::Version;
pub use driver_error::DriverError;
pub use launch_field::LaunchField;

use crate::extent::{Extent, HostLayout};
use crate::ffi::{LoadError, Symbol};
use std::path::PathBuf;
use std::time::Duration;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that a call of this crate can report.
///
/// ```
/// use scoped_cuda::{Driver, Error, sim::Simulation};
///
/// let driver = Driver::simulated(Simulation::default())?;
/// let error = driver.with_device(4_294_967_295, |_| Ok(())).unwrap_err();
/// assert_eq!(error, Error::BadOrdinal { asked: 4_294_967_295, count: 2 });
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] DriverError),

    /// No driver library could be opened.
    #[error("no CUDA driver: could not open {}", tried.join(", "))]
    NoDriver {
        /// Each library name with the reason the system gave.
        tried: Vec<String>,
    },

    /// The driver is older than CUDA 12.0.
    #[error("the driver supports CUDA {found}, this crate needs CUDA {needs} or newer")]
    DriverTooOld {
        /// The oldest version that would do.
        needs: Version,
        /// The driver's version.
        found: Version,
    },

    /// The driver lacks an entry point: at load a required one, later the optional one that the function needs.
    #[error("the driver (CUDA {driver}) has no `{name}`, which appeared in CUDA {needs}")]
    SymbolMissing {
        /// The entry point.
        name: &'static str,
        /// The CUDA version in which its signature appeared.
        needs: Version,
        /// The driver's version.
        driver: Version,
    },

    /// A device was asked for and the machine has none.
    #[error("this machine has no CUDA device")]
    NoDevice,

    /// There is no device of this ordinal.
    #[error("there is no device {asked}: the machine has {count}, numbered from 0")]
    BadOrdinal {
        /// The ordinal asked for.
        asked: u32,
        /// How many devices there are.
        count: u32,
    },

    /// Somebody reset or destroyed the device's primary context while this crate was using it; all its objects are gone.
    #[error(
        "the primary context of device {ordinal} was reset or destroyed by other code in this process"
    )]
    ContextLost {
        /// The device.
        ordinal: u32,
    },

    /// The thread's context stack could not be left as it was found.
    #[error("the thread's context stack is not as it was: {problem}")]
    ContextStack {
        /// What is wrong.
        problem: &'static str,
    },

    /// A fault has ended the use of CUDA in this process; nothing was asked of the driver.
    #[error("the driver is unusable in this process since an earlier fault: {first}")]
    Poisoned {
        /// The fault.
        first: DriverError,
    },

    /// The devices cannot access each other's memory directly; [`Transfer::staged`](crate::Transfer::staged) works.
    #[error("device {from} has no peer access to device {to}; a staged transfer works")]
    PeerUnsupported {
        /// The device that would access.
        from: u32,
        /// The device that would be accessed.
        to: u32,
    },

    /// A kernel was to be given memory of another device with a token for copies through host memory;
    /// [`Transfer::direct`](crate::Transfer::direct) makes one that reaches it.
    #[error(
        "the transfer from device {from} to device {to} is staged: kernels of device {to} cannot reach that memory with it"
    )]
    NotDirect {
        /// The device that has the memory.
        from: u32,
        /// The device whose kernels would touch it.
        to: u32,
    },

    /// Contexts of two drivers meet, of the real and of a simulated one, say. Neither knows the other's handles.
    #[error("the two contexts are of different drivers")]
    DifferentDrivers,

    /// Two scopes were said to be of one context and are not.
    #[error("the two scopes are of different contexts, of device {first} and of device {second}")]
    DifferentContexts {
        /// The device of the one.
        first: u32,
        /// The device of the other.
        second: u32,
    },

    /// The direct path between two devices delivered other bytes than were sent; a staged transfer between contexts that had no direct one
    /// is the way around it ([`Transfer::verify`](crate::Transfer::verify)).
    #[error(
        "the direct path from device {from} to device {to} corrupts data; use a staged transfer, between contexts that had no direct one"
    )]
    PeerUnreliable {
        /// The device that sent.
        from: u32,
        /// The device that received.
        to: u32,
    },

    /// The device has not enough free memory, or the context's own [limit](crate::Context::limit_memory) leaves too little.
    #[error("device {ordinal} cannot allocate {asked} bytes: {}", out_of_memory(*free, *cap, source.as_deref()))]
    OutOfMemory {
        /// The device.
        ordinal: u32,
        /// Bytes asked for.
        asked: usize,
        /// Bytes that were still to be had: under the cap when that was in the way, else free memory of the device, if it would say.
        free: Option<usize>,
        /// The context's limit in bytes, when it has one.
        cap: Option<usize>,
        /// The driver's answer; `None` when the cap was in the way, and the driver was not asked.
        source: Option<Box<DriverError>>,
    },

    /// The host has no more memory that can be page-locked.
    #[error("cannot page-lock {bytes} bytes of host memory: {source}")]
    OutOfHostMemory {
        /// Bytes asked for.
        bytes: usize,
        /// The driver's answer.
        source: DriverError,
    },

    /// Host memory was to be page-locked that is so already, in part at least.
    #[error("some of these {bytes} bytes of host memory are page-locked already: {source}")]
    AlreadyRegistered {
        /// Bytes that were to be page-locked.
        bytes: usize,
        /// The driver's answer.
        source: DriverError,
    },

    /// Managed memory was asked for, and there is a device that the host may not touch it beside.
    #[error(
        "no managed memory: device {ordinal} lacks concurrent managed access, so that the host could not touch any while it works"
    )]
    ManagedUnsupported {
        /// The device.
        ordinal: u32,
    },

    /// The element type asks for a stricter alignment than the driver's memory has.
    #[error("the driver's memory at {address:#x} is not aligned to {align} bytes")]
    Misaligned {
        /// Where the memory is.
        address: usize,
        /// What the element type asks for, in bytes.
        align: usize,
    },

    /// The size in bytes does not fit the address space.
    #[error("{len} elements of {element_bytes} bytes are more than the address space holds")]
    SizeOverflow {
        /// Elements asked for.
        len: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },

    /// Memory cannot be divided into chunks of no elements.
    #[error("chunks of 0 elements would never come to an end")]
    EmptyChunks,

    /// Source and destination of a copy have different lengths.
    #[error("the source has {source_len} elements, the destination {destination_len}")]
    LengthMismatch {
        /// Elements in the source.
        source_len: usize,
        /// Elements in the destination.
        destination_len: usize,
    },

    /// Source and destination of a copy of rows have different extents.
    #[error("the source has {source_extent} elements, the destination {destination_extent}")]
    ExtentMismatch {
        /// Extent of the source.
        source_extent: Extent,
        /// Extent of the destination.
        destination_extent: Extent,
    },

    /// Rows in host memory would share elements.
    #[error(
        "a box of {extent} elements cannot have rows {} elements and slices {} rows apart: they would overlap",
        layout.row_stride, layout.slice_rows
    )]
    RowsOverlap {
        /// The box.
        extent: Extent,
        /// The layout asked for.
        layout: HostLayout,
    },

    /// Rows lie further apart than the device copies.
    #[error("rows are {bytes} bytes apart: this device copies rows that are at most {limit} apart")]
    PitchTooLarge {
        /// Bytes from one row to the next.
        bytes: usize,
        /// The device's limit in bytes.
        limit: usize,
    },

    /// A range does not lie within the memory it was asked of.
    #[error("elements {start}..{end} of memory that has {len}")]
    OutOfRange {
        /// First element.
        start: usize,
        /// One past the last element.
        end: usize,
        /// Elements there are.
        len: usize,
    },

    /// The device has no streams of this priority. Smaller numbers are more urgent.
    #[error("stream priority {asked}: this device has {greatest} (most urgent) to {least}")]
    BadPriority {
        /// The priority asked for.
        asked: i32,
        /// The least urgent one, the largest number.
        least: i32,
        /// The most urgent one, the smallest number.
        greatest: i32,
    },

    /// The event was never recorded, so there is nothing to wait for or to ask about. (The driver would say that it has happened.)
    #[error("the event was never recorded")]
    EventNotRecorded,

    /// The work before one of the two events is not done, so the time between them is not known yet.
    #[error("an event is still pending: wait for it before asking for the time")]
    EventPending,

    /// The event that was said to be the earlier one happened after the other.
    #[error("the event that should be the earlier one happened {by:?} after the other")]
    EventOrder {
        /// By how much.
        by: Duration,
    },

    /// A launch configuration that the device or the kernel cannot run.
    #[error("{field} is {value}: it must be {} {limit} here", field.range())]
    BadLaunch {
        /// Which part of the configuration.
        field: LaunchField,
        /// Its value.
        value: u64,
        /// The largest value that device and kernel allow.
        limit: u64,
    },

    /// The blocks of a grid are not a whole number of clusters.
    #[error("{field} is {blocks}, which is no multiple of the {cluster} blocks of a cluster")]
    UnevenClusters {
        /// Along which axis.
        field: LaunchField,
        /// Blocks of the grid along it.
        blocks: u64,
        /// Blocks of a cluster along it.
        cluster: u32,
    },

    /// What a safe launch requires of its arguments and configuration does not hold
    /// ([`Kernel::assert_safe_when`](crate::Kernel::assert_safe_when)); nothing was launched.
    #[error("kernel `{kernel}` was not launched, because this does not hold: {precondition}")]
    Precondition {
        /// The kernel.
        kernel: String,
        /// What does not hold, in the words of whoever wrapped the kernel.
        precondition: &'static str,
    },

    /// Memory has more elements than the kernel's parameter for their number can tell ([`WithLen`](crate::WithLen)).
    #[error(
        "memory of {len} elements, for a kernel whose parameter for their number holds {limit} at most"
    )]
    CountTooLarge {
        /// Elements of the argument.
        len: usize,
        /// The largest number that the parameter holds.
        limit: u64,
    },

    /// The image is not PTX text, or the driver's JIT refused it.
    #[error("the PTX did not load: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    BadPtx {
        /// Why, in a phrase: the driver's error, or what this crate found before asking.
        reason: String,
        /// The JIT's error log; empty when it wrote none.
        log: String,
    },

    /// NVRTC, CUDA's run-time compiler, is not installed, or not where programs find libraries.
    #[cfg(feature = "nvrtc")]
    #[error(
        "no NVRTC, CUDA's run-time compiler: could not open {}. It comes with the CUDA toolkit (the package cuda-nvrtc-13-0 is NVRTC alone), \
         or with `pip install nvidia-cuda-nvrtc`, whose folder nvidia/cu13/lib then has to be where the system looks for libraries \
         (LD_LIBRARY_PATH)",
        tried.join(", ")
    )]
    NoNvrtc {
        /// Each library or folder with the reason why it is none.
        tried: Vec<String>,
    },

    /// A library was opened as NVRTC and lacks one of its functions.
    #[cfg(feature = "nvrtc")]
    #[error("the library has no `{name}`: it is not NVRTC, or older than CUDA 11.2")]
    NvrtcIncomplete {
        /// The function.
        name: &'static str,
    },

    /// A call of NVRTC failed, other than the compilation itself.
    #[cfg(feature = "nvrtc")]
    #[error("{call} returned {name} ({code})")]
    Nvrtc {
        /// The call.
        call: &'static str,
        /// The result, an `nvrtcResult`.
        code: i32,
        /// NVRTC's name for it.
        name: String,
    },

    /// The CUDA C++ did not compile, or an option is none.
    #[cfg(feature = "nvrtc")]
    #[error("the CUDA C++ did not compile: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Compile {
        /// Why, in a phrase: NVRTC's name for it, `NVRTC_ERROR_COMPILATION` for example.
        reason: String,
        /// What the compiler wrote, with file and line of each error.
        log: String,
    },

    /// NVRTC does not compile for devices as old as this one any more; one of an older CUDA version does.
    #[cfg(feature = "nvrtc")]
    #[error(
        "this NVRTC compiles for compute capability {}.{} and newer, not for {}.{}",
        oldest / 10, oldest % 10, asked / 10, asked % 10
    )]
    ArchitectureTooOld {
        /// The compute capability asked for, as `10 * major + minor`.
        asked: u32,
        /// The oldest one that this NVRTC knows, likewise.
        oldest: u32,
    },

    /// The name expression was not given to the compilation, so that it has no lowered name.
    #[cfg(feature = "nvrtc")]
    #[error("`{expression}` was not among the name expressions of the compilation")]
    NoNameExpression {
        /// The expression asked for.
        expression: String,
    },

    /// A text for the compiler contains a NUL, where C would take it to end.
    #[cfg(feature = "nvrtc")]
    #[error("{what} contains a NUL")]
    NulInText {
        /// Which text.
        what: &'static str,
    },

    /// The image is not a whole cubin or fatbin, or the driver refused it.
    #[error("the image did not load: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    BadImage {
        /// Why, in a phrase: the driver's error, or what this crate found before asking.
        reason: String,
        /// The JIT's error log; empty when it wrote none.
        log: String,
    },

    /// The image has no code that this device runs: it was made for others.
    #[error(
        "the image has no code for device {ordinal}, whose compute capability is {}.{}: {source}",
        compute_capability.0, compute_capability.1
    )]
    NoCodeForDevice {
        /// The device.
        ordinal: u32,
        /// Its compute capability, major and minor.
        compute_capability: (u32, u32),
        /// The driver's answer.
        source: DriverError,
    },

    /// Inputs of a linker do not fit together, or one of them was refused.
    #[error("the code did not link: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Link {
        /// Why, in a phrase: the driver's error, or what this crate found before asking.
        reason: String,
        /// The linker's error log; empty when it wrote none.
        log: String,
    },

    /// Options for the JIT that contradict each other, or that no device has.
    #[error("these JIT options are not possible: {reason}")]
    BadJitOptions {
        /// Which, and why.
        reason: String,
    },

    /// A file with PTX could not be read.
    #[error("cannot read PTX from {}: {reason}", path.display())]
    PtxFile {
        /// The file.
        path: PathBuf,
        /// The system's reason; text that is not UTF-8 is one.
        reason: String,
    },

    /// The module has no kernel of this name.
    #[error("the module has no kernel `{name}`")]
    NoKernel {
        /// The name asked for.
        name: String,
    },

    /// The module has no variable of this name.
    #[error("the module has no variable `{name}`")]
    NoGlobal {
        /// The name asked for.
        name: String,
    },

    /// A variable of a module has another size than was asked for.
    #[error("the variable `{name}` has {bytes} bytes, not {len} elements of {element_bytes} bytes")]
    GlobalSize {
        /// The variable.
        name: String,
        /// Its bytes.
        bytes: usize,
        /// Elements asked for.
        len: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },

    /// A variable of a module, or another one in the same place, has a [`Global`](crate::Global) already.
    #[error("somebody has the variable `{name}` already")]
    GlobalTaken {
        /// The name asked for.
        name: String,
    },

    /// The kernel declares another number of parameters.
    #[error("kernel `{kernel}` has {got} parameters, the Rust type says {want}")]
    ArgCount {
        /// The kernel.
        kernel: String,
        /// Parameters in the Rust type.
        want: usize,
        /// Parameters that the kernel declares.
        got: usize,
    },

    /// A host function that was enqueued in the scope panicked; its stream went on.
    #[error("a host function panicked: {message}")]
    CallbackPanicked {
        /// What it panicked with, when that was text.
        message: String,
    },

    /// A future was polled again after it had given back what it owned.
    #[error("the transfer has ended already and has given its memory back")]
    CopyTaken,

    /// A driver was asked for something inside of a host function, where CUDA permits no call; nothing was asked of it.
    #[error("a host function may make no CUDA call")]
    InsideHostFunction,

    /// A parameter of the kernel begins elsewhere: one of the types, this one or one before it, has another alignment than the kernel's.
    #[error(
        "parameter {index} of kernel `{kernel}` is at byte {got} of its parameters, the Rust types put it at {want}: is each aligned as in C?"
    )]
    ArgOffset {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// Where the Rust types put it, in bytes.
        want: usize,
        /// Where the kernel declares it, in bytes.
        got: usize,
    },

    /// A parameter of the kernel has another size.
    #[error("parameter {index} of kernel `{kernel}` has {got} bytes, the Rust type says {want}")]
    ArgSize {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// Bytes in the Rust type.
        want: usize,
        /// Bytes that the kernel declares.
        got: usize,
    },
}

impl Error {
    /// The error for a driver of this version that could not be loaded.
    pub(crate) fn not_loaded(error: LoadError, version: Version) -> Self {
        match error {
            LoadError::NoDriver { tried } => Self::NoDriver { tried },
            LoadError::DriverTooOld { needs, found } => Self::DriverTooOld { needs, found },
            LoadError::SymbolMissing {
                name,
                needs,
                driver,
            } => Self::SymbolMissing {
                name,
                needs,
                driver: driver.unwrap_or(version),
            },
        }
    }

    pub(crate) fn missing(symbol: &Symbol, driver: Version) -> Self {
        Self::SymbolMissing {
            name: symbol.name,
            needs: Version(symbol.version),
            driver,
        }
    }

    /// The driver call behind this error, when a driver call is.
    #[must_use]
    pub fn driver_error(&self) -> Option<&DriverError> {
        match self {
            Self::Driver(error)
            | Self::OutOfHostMemory { source: error, .. }
            | Self::AlreadyRegistered { source: error, .. }
            | Self::NoCodeForDevice { source: error, .. }
            | Self::Poisoned { first: error } => Some(error),
            Self::OutOfMemory { source, .. } => source.as_deref(),
            _ => None,
        }
    }
}

/// Why there was not enough memory, for the message.
fn out_of_memory(free: Option<usize>, cap: Option<usize>, source: Option<&DriverError>) -> String {
    let free = free.map_or_else(|| "an unknown number".to_owned(), |free| free.to_string());
    match (source, cap) {
        (Some(source), _) => format!("{free} are free; {source}"),
        (None, Some(cap)) => format!("{free} are left of the context's limit of {cap}"),
        (None, None) => format!("{free} are free"),
    }
}

static_assertions::assert_impl_all!(Error: Send, Sync, std::error::Error);
