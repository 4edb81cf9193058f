//! What can go wrong: one enum, and a newtype over the driver's result codes.

mod close_error;
mod driver_error;
mod image_error;
mod launch_field;
#[cfg(feature = "nvrtc")]
mod nvrtc_error;
mod teardown_error;
mod wrong_context;

pub use crate::ffi::Version;
pub use close_error::CloseError;
pub use driver_error::DriverError;
pub use image_error::{ImageError, ImageKind};
pub use launch_field::LaunchField;
#[cfg(feature = "nvrtc")]
pub use nvrtc_error::NvrtcError;
pub use teardown_error::TeardownError;
pub use wrong_context::WrongContext;

use crate::compute_capability::ComputeCapability;
use crate::extent::{Extent, HostLayout};
#[cfg(feature = "sim")]
use crate::ffi::CUresult;
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

    /// The driver lacks an entry point: at load a required one, later the optional one that the
    /// function needs.
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

    /// Other code reset or destroyed the device's primary context while this crate was using it.
    /// All its objects are gone.
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

    /// A graph cannot be built or changed that way.
    #[error("the graph cannot be built or changed that way: {problem}")]
    Graph {
        /// What is wrong.
        problem: &'static str,
    },

    /// The devices cannot access each other's memory directly;
    /// [`Transfer::staged`](crate::Transfer::staged) works.
    #[error("device {from} has no peer access to device {to}; a staged transfer works")]
    PeerUnsupported {
        /// The device that would access.
        from: u32,
        /// The device that would be accessed.
        to: u32,
    },

    /// A kernel was to be given memory of another device with a token for copies through host
    /// memory; [`Transfer::direct`](crate::Transfer::direct) makes one that reaches it.
    #[error(
        "the transfer from device {from} to device {to} is staged: kernels of device {to} cannot reach that memory with it"
    )]
    NotDirect {
        /// The device that has the memory.
        from: u32,
        /// The device whose kernels would touch it.
        to: u32,
    },

    /// Two contexts belong to different drivers, for example the real one and a simulated one.
    /// Neither driver knows the handles of the other.
    #[error("the two contexts belong to different drivers")]
    DifferentDrivers,

    /// Two contexts that had to be the same are different ones.
    #[error("the two contexts are different ones: one of device {first}, one of device {second}")]
    DifferentContexts {
        /// The device of the one.
        first: u32,
        /// The device of the other.
        second: u32,
    },

    /// A [`Detached`](crate::Detached) value was asked for in another context than its own.
    #[error("the value is of a context of device {of}, and {} was entered", other_context(*of, *entered))]
    WrongContext {
        /// The device of the value.
        of: u32,
        /// The device whose context was entered.
        entered: u32,
    },

    /// The direct path between two devices delivered other bytes than were sent; a staged transfer
    /// between contexts that had no direct one is the way around it
    /// ([`Transfer::verify`](crate::Transfer::verify)).
    #[error(
        "the direct path from device {from} to device {to} corrupts data; use a staged transfer, between contexts that had no direct one"
    )]
    PeerUnreliable {
        /// The device that sent.
        from: u32,
        /// The device that received.
        to: u32,
    },

    /// The device has not enough free memory, or the context's own
    /// [limit](crate::Context::limit_memory) leaves too little.
    #[error("device {ordinal} cannot allocate {asked} bytes: {}", out_of_memory(*free, *cap, source.as_deref()))]
    OutOfMemory {
        /// The device.
        ordinal: u32,
        /// Bytes asked for.
        asked: usize,
        /// Bytes that were still to be had: under the cap when that was in the way, else free
        /// memory of the device, if it would say.
        free: Option<usize>,
        /// The context's limit in bytes, when it has one.
        cap: Option<usize>,
        /// The driver's answer; `None` when the cap was in the way, and the driver was not asked.
        source: Option<Box<DriverError>>,
    },

    /// The host has not enough memory that can be page-locked.
    #[error("cannot page-lock {bytes} bytes of host memory: {source}")]
    OutOfHostMemory {
        /// Bytes asked for.
        bytes: usize,
        /// The driver's answer.
        source: DriverError,
    },

    /// Host memory that was to be page-locked is page-locked already, at least in part.
    #[error("part of this {bytes}-byte range is page-locked already: {source}")]
    AlreadyRegistered {
        /// Bytes that were to be page-locked.
        bytes: usize,
        /// The driver's answer.
        source: DriverError,
    },

    /// Managed memory is unsupported: while some device of the machine works, the host may not
    /// touch it.
    #[error("managed memory is unsupported: device {ordinal} lacks concurrent managed access")]
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
    #[error("the length of a chunk must not be 0")]
    EmptyChunks,

    /// The bytes of memory are no whole number of elements of another type, or not aligned for it.
    #[error(
        "{bytes} bytes at {address:#x} are no elements of {size} bytes that are aligned to {align}"
    )]
    BadCast {
        /// Bytes of the memory.
        bytes: usize,
        /// Where they begin on the device.
        address: u64,
        /// Bytes of one element of the type asked for.
        size: usize,
        /// Alignment of that type in bytes.
        align: usize,
    },

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
    #[error("the range {start}..{end} is out of bounds: the memory has {len} elements")]
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

    /// The event was never recorded, so there is nothing to wait for or to ask about. (The driver
    /// would report it as complete.)
    #[error("the event was never recorded")]
    EventNotRecorded,

    /// The work before one of the two events is not done, so the time between them is not known
    /// yet.
    #[error("the event has not completed yet: synchronize before reading the time")]
    EventPending,

    /// The event that was passed as the earlier one was recorded after the other.
    #[error("`earlier` was recorded {by:?} after this event")]
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
    #[error("kernel `{kernel}` was not launched: this precondition does not hold: {precondition}")]
    Precondition {
        /// The kernel.
        kernel: String,
        /// What does not hold, in the words of the code that wrapped the kernel.
        precondition: &'static str,
    },

    /// Memory has more elements than the kernel's parameter for their number can tell
    /// ([`WithLen`](crate::WithLen)).
    #[error(
        "the length {len} does not fit the kernel's count parameter, which holds at most {limit}"
    )]
    CountTooLarge {
        /// Elements of the argument.
        len: usize,
        /// The largest number that the parameter holds.
        limit: u64,
    },

    /// PTX, machine code or the inputs of a linker were refused, with the compiler's log.
    #[error(transparent)]
    Image(#[from] ImageError),

    /// CUDA C++ could not be compiled while the program runs.
    #[cfg(feature = "nvrtc")]
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),

    /// The image has no code that this device runs: it was made for others.
    #[error(
        "the image has no code for device {ordinal}, whose compute capability is {compute_capability}: {source}"
    )]
    NoCodeForDevice {
        /// The device.
        ordinal: u32,
        /// Its compute capability.
        compute_capability: ComputeCapability,
        /// The driver's answer.
        source: DriverError,
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

    /// A variable of a module, or another one in the same place, has a [`Global`](crate::Global)
    /// already.
    #[error("the variable `{name}` has a live `Global` handle already")]
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
    #[error("this work was waited for already and has given back what it owned")]
    CopyTaken,

    /// A function of this crate was called inside a host function, where CUDA permits no call. The
    /// driver was not asked.
    #[error("CUDA calls are not allowed inside a host function")]
    InsideHostFunction,

    /// A parameter of the kernel begins at another offset: its Rust type, or one before it, has
    /// another alignment than the kernel declares.
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

    /// The PTX declares a parameter of another alignment.
    #[error(
        "parameter {index} of kernel `{kernel}` is declared `{got}`, the Rust type is aligned to {want} bytes"
    )]
    ArgAlign {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// The alignment of the Rust type, in bytes.
        want: usize,
        /// What the PTX declares.
        got: String,
    },

    /// The PTX declares a parameter of another kind: an integer where the Rust type is a
    /// floating-point number, for example.
    #[error("parameter {index} of kernel `{kernel}` is declared `{got}`, the Rust type is {want}")]
    ArgKind {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// What the Rust type is.
        want: String,
        /// What the PTX declares.
        got: String,
    },

    /// A kernel was launched on a simulated driver that has nothing to run for it.
    #[cfg(feature = "sim")]
    #[error(
        "the simulated driver cannot run this: {reason}; register a body with `Machine::kernel`"
    )]
    NotSimulated {
        /// What is missing.
        reason: String,
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

    /// What a simulated machine says of a launch that it could not run, instead of its result code.
    #[cfg(feature = "sim")]
    #[cold]
    pub(crate) fn with_reason(self, reason: Option<String>) -> Self {
        match (self, reason) {
            (Self::Driver(error), Some(reason)) if error.code() == CUresult::NOT_SUPPORTED => {
                Self::NotSimulated { reason }
            }
            (other, _) => other,
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

/// The other one of two contexts, for a message.
fn other_context(of: u32, entered: u32) -> String {
    match of == entered {
        true => "another context of that device".to_owned(),
        false => format!("one of device {entered}"),
    }
}
