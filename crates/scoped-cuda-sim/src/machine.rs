//! A machine: its state, how a call enters it, and what a test can see and provoke.

use super::capture::Capture;
use super::context::{Context, Current, Device};
use super::graph::{Exec, Graph};
use super::host::Registered;
use super::kernel::{Bodies, Function, KernelCall, Module};
use super::linker::Linker;
use super::memory::{Allocation, Pool};
use super::registry::{self, DEVICES_MAX, Handle, Kind, with_stack};
use super::stream::{Event, Stream};
use super::{Simulation, abi};
use scoped_cuda_ptx::Finding;
use scoped_cuda_sys::CUresult;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What a driver call comes to.
pub(super) type Outcome<T = ()> = Result<T, CUresult>;

/// Calls kept by [`Machine::trace`] at most; the older half is dropped when it is full.
const TRACE_MAX: usize = 1 << 20;

/// Calls that keep working after a fault: those that need no device for it. (A retain does while
/// the context is active.)
const WORK_AFTER_A_FAULT: [&str; 23] = [
    "cuDriverGetVersion",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetUuid",
    "cuDeviceTotalMem",
    "cuDeviceGetAttribute",
    "cuDeviceGetPCIBusId",
    "cuDeviceCanAccessPeer",
    "cuDeviceGetP2PAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxGetState",
    "cuCtxDestroy",
    "cuCtxGetCurrent",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuCtxSetCurrent",
    "cuCtxGetId",
    "cuPointerGetAttribute",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolSetAttribute",
];

/// Calls that miss a current context before they notice a fault.
const MISS_A_CONTEXT_FIRST: [&str; 5] = [
    "cuMemAlloc",
    "cuMemGetInfo",
    "cuEventCreate",
    "cuStreamCreate",
    "cuModuleLoadDataEx",
];

/// Calls that work before `cuInit`.
const WORK_BEFORE_INIT: [&str; 2] = ["cuInit", "cuDriverGetVersion"];

/// One simulated machine: devices, driver and all that was made with it. Clones are the same
/// machine.
///
/// A call that names no object and is about the current context (for example `cuStreamCreate`) is
/// answered by that context's machine; other calls that name none, by the machine that the thread
/// used last. On a thread that has used none, the call is answered as on a machine without devices
/// and counts nowhere.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    index: u32,
    simulation: Simulation,
    state: Mutex<State>,
    /// Something was done, dropped or ended.
    progress: Condvar,
    bodies: Mutex<Bodies>,
}

/// Everything that changes.
pub(super) struct State {
    pub(super) index: u32,
    pub(super) memory: usize,
    pub(super) is_initialized: bool,
    serial: u32,
    calls: u64,
    trace: Vec<&'static str>,
    failures: BTreeMap<u64, CUresult>,
    pub(super) fault: Option<CUresult>,
    /// The device that had the fault; `None` when it is not known which, so that all have stopped.
    pub(super) fault_of: Option<usize>,
    pub(super) violations: Vec<String>,
    pub(super) findings: Vec<Finding>,
    pub(super) devices: Vec<Device>,
    pub(super) contexts: HashMap<Handle, Context>,
    pub(super) streams: HashMap<Handle, Stream>,
    pub(super) events: HashMap<Handle, Event>,
    /// By the stream that is captured.
    pub(super) captures: HashMap<Handle, Capture>,
    pub(super) modules: HashMap<Handle, Module>,
    pub(super) functions: HashMap<Handle, Function>,
    pub(super) linkers: HashMap<Handle, Linker>,
    pub(super) graphs: HashMap<Handle, Graph>,
    pub(super) graph_execs: HashMap<Handle, Exec>,
    /// Chooses the order of the nodes of the next launch, when they run one at a time.
    pub(super) graph_seed: Option<u64>,
    pub(super) pools: HashMap<Handle, Pool>,
    pub(super) allocations: BTreeMap<u64, Arc<Allocation>>,
    pub(super) registered: Vec<Registered>,
    pub(super) paused: usize,
}

/// What is alive on a machine. All zero when everything was given back.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Live {
    /// Active contexts, primary and created.
    pub contexts: usize,
    /// Retains of primary contexts that were not released.
    pub retains: usize,
    /// Streams of active contexts.
    pub streams: usize,
    /// Events of active contexts.
    pub events: usize,
    /// Modules of active contexts, with their variables.
    pub modules: usize,
    /// Linkers of active contexts.
    pub linkers: usize,
    /// Graphs of active contexts.
    pub graphs: usize,
    /// Instantiated graphs of active contexts.
    pub graph_execs: usize,
    /// Memory pools.
    pub pools: usize,
    /// Allocations of device and managed memory, without those whose free is enqueued.
    pub allocations: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Page-locked host allocations.
    pub host_allocations: usize,
    /// Pieces of the program's memory that are registered, that is page-locked for a while.
    pub host_registrations: usize,
}

impl Machine {
    #[doc(hidden)]
    pub fn start(simulation: Simulation) -> Self {
        registry::register(|index| {
            let mut state = State {
                index,
                memory: simulation.memory,
                is_initialized: false,
                serial: 0,
                calls: 0,
                trace: Vec::new(),
                failures: BTreeMap::new(),
                fault: None,
                fault_of: None,
                violations: Vec::new(),
                findings: Vec::new(),
                devices: Vec::new(),
                contexts: HashMap::new(),
                streams: HashMap::new(),
                events: HashMap::new(),
                captures: HashMap::new(),
                modules: HashMap::new(),
                functions: HashMap::new(),
                linkers: HashMap::new(),
                graphs: HashMap::new(),
                graph_execs: HashMap::new(),
                graph_seed: None,
                pools: HashMap::new(),
                allocations: BTreeMap::new(),
                registered: Vec::new(),
                paused: 0,
            };
            for device in 0..simulation.devices.min(DEVICES_MAX) as usize {
                state.add_device(device);
            }
            Inner {
                index,
                simulation,
                state: Mutex::new(state),
                progress: Condvar::new(),
                bodies: Mutex::default(),
            }
        })
    }

    /// The driver's ordinal of device 0.
    #[doc(hidden)]
    pub fn first_ordinal(&self) -> c_int {
        self.ordinal(0)
    }

    /// Makes this machine the one that answers the calling thread's calls that name nothing.
    #[doc(hidden)]
    pub fn select(&self) {
        registry::select(self.inner.index);
    }

    /// The entry point `name` as `cuGetProcAddress_v2` would find it; null when this driver does
    /// not have it.
    #[doc(hidden)]
    pub fn address(&self, name: &str, version: c_int) -> *const c_void {
        let simulation = &self.inner.simulation;
        if simulation.missing.contains(&name) || version > simulation.version {
            return std::ptr::null();
        }
        abi::address(name, version)
    }

    /// Gives the PTX entry `name` a body, for launches from now on. It is called once per launch,
    /// for the whole grid.
    ///
    /// A body that panics or touches memory it may not is a kernel with a fault: the machine
    /// returns `CUDA_ERROR_ILLEGAL_ADDRESS` from then on, and [`violations`](Self::violations) says
    /// why. It may make no driver call.
    pub fn kernel(&self, name: &str, body: impl Fn(&mut KernelCall<'_>) + Send + Sync + 'static) {
        let replaced = self.bodies().insert(name.to_owned(), Arc::new(body));
        // Unlocked again: what a body captured is the user's, and may call the machine when
        // dropped.
        drop(replaced);
    }

    /// Makes the `n`-th driver call from now (1 is the next) return `code` and do nothing else.
    ///
    /// A [sticky](CUresult::is_sticky) code is a fault of the whole machine from then on. `n` of 0
    /// takes back all orders that were not met yet. `cuGetErrorName` and `cuGetErrorString` do not
    /// count as calls.
    pub fn fail_call(&self, n: u64, code: CUresult) {
        let mut state = self.lock();
        let call = state.calls.saturating_add(n);
        if n == 0 {
            state.failures.clear();
        } else if code == CUresult::SUCCESS {
            state.failures.remove(&call);
        } else {
            state.failures.insert(call, code);
        }
    }

    /// How many driver calls were made so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// The names of the driver calls so far, of the last half million at least.
    #[must_use]
    pub fn trace(&self) -> Vec<&'static str> {
        self.lock().trace.clone()
    }

    /// Forgets the [`trace`](Self::trace).
    pub fn clear_trace(&self) {
        self.lock().trace.clear();
    }

    /// What is alive.
    #[must_use]
    pub fn live(&self) -> Live {
        let state = self.lock();
        let allocations = || {
            state
                .allocations
                .values()
                .filter(|allocation| !allocation.is_freed() && !allocation.is_variable)
        };
        let on_device = || allocations().filter(|allocation| !allocation.is_pinned());
        Live {
            contexts: state
                .contexts
                .values()
                .filter(|context| context.is_alive)
                .count(),
            retains: state
                .devices
                .iter()
                .map(|device| device.retains as usize)
                .sum(),
            streams: state
                .streams
                .values()
                .filter(|s| s.is_listed() && state.live(s.context).is_ok())
                .count(),
            events: state
                .events
                .values()
                .filter(|event| state.live(event.context).is_ok())
                .count(),
            modules: state.modules.len(),
            linkers: state.linkers.len(),
            graphs: state.graphs.len(),
            graph_execs: state.graph_execs.len(),
            pools: state.pools.len(),
            allocations: on_device().count(),
            bytes: on_device().map(|allocation| allocation.bytes).sum(),
            host_allocations: allocations()
                .filter(|allocation| allocation.is_pinned())
                .count(),
            host_registrations: state.registered.len(),
        }
    }

    /// Where the real driver would have crashed or been undefined, and why the machine has a fault,
    /// in sentences.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    /// What kernels that ran from their PTX did wrong: each ended its launch, and gave the machine
    /// a fault. The texts are among the [`violations`](Self::violations) too.
    ///
    /// ```
    /// use scoped_cuda::sim::{Class, Simulation};
    /// use scoped_cuda::{Driver, LaunchConfig, ptx};
    ///
    /// let driver = Driver::simulated(Simulation::default())?;
    /// let result: scoped_cuda::Result<()> = driver.with_device(0, |ctx| {
    ///     let module = ctx.load_ptx(ptx!(
    ///         ".version 8.0 .target sm_80 .address_size 64
    ///          .visible .entry stops() { trap; }"
    ///     ))?;
    ///     let kernel = module.kernel::<()>("stops")?;
    ///     let stream = ctx.new_stream()?;
    ///     // SAFETY: it touches no memory.
    ///     stream.scope(|s| unsafe { s.launch(&kernel, LaunchConfig::for_elements(1), ()) })
    /// });
    /// assert!(result.is_err());
    /// let findings = driver.machine().map(|machine| machine.findings()).unwrap_or_default();
    /// assert_eq!(findings[0].kernel, "stops");
    /// assert_eq!(findings[0].class, Class::Trap(String::new()));
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.lock().findings.clone()
    }

    /// How many contexts are on the calling thread's context stack, of whatever machine.
    #[must_use]
    pub fn stack_depth(&self) -> usize {
        with_stack(|stack| stack.len()).unwrap_or(0)
    }

    /// The sticky fault that every call returns, if there is one.
    #[must_use]
    pub fn fault(&self) -> Option<CUresult> {
        self.lock().fault
    }

    /// Resets the primary context of device `ordinal` (from 0), as other code in the process may do
    /// at any time (`cuDevicePrimaryCtxReset`). Nothing happens when there is no such device.
    pub fn reset_primary(&self, ordinal: u32) {
        let state = self.lock();
        if state.fault.is_none() && (ordinal as usize) < state.devices.len() {
            drop(self.reset(state, ordinal as usize));
        }
    }

    /// Lets the nodes of graphs run one at a time, in an order that `seed` chooses among those that
    /// the edges allow, another one at each launch. Without a seed, what is ready runs at once.
    pub fn order_graphs(&self, seed: Option<u64>) {
        self.lock().graph_seed = seed;
    }

    /// Lets no enqueued work run until the guard is dropped; waits block.
    pub fn pause(&self) -> Paused {
        self.lock().paused += 1;
        Paused {
            machine: self.clone(),
        }
    }

    // For the entry points.

    pub(super) fn index(&self) -> u32 {
        self.inner.index
    }

    pub(super) fn simulation(&self) -> &Simulation {
        &self.inner.simulation
    }

    pub(super) fn ordinal(&self, device: usize) -> c_int {
        (self.inner.index * DEVICES_MAX) as c_int + device as c_int
    }

    /// The device of this machine that an ordinal means.
    pub(super) fn device(&self, ordinal: c_int) -> Outcome<usize> {
        let device = ordinal
            .checked_sub(self.first_ordinal())
            .and_then(|device| usize::try_from(device).ok());
        device
            .filter(|&device| device < self.devices())
            .ok_or(CUresult::INVALID_DEVICE)
    }

    pub(super) fn devices(&self) -> usize {
        self.inner.simulation.devices.min(DEVICES_MAX) as usize
    }

    pub(super) fn bodies(&self) -> MutexGuard<'_, Bodies> {
        self.inner
            .bodies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something was done, dropped or ended.
    pub(super) fn progress<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.inner
            .progress
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn announce(&self) {
        self.inner.progress.notify_all();
    }

    /// Counts a call and decides whether it takes place. The state stays locked, so that nothing
    /// comes in between.
    pub(super) fn enter(&self, call: &'static str) -> Outcome<MutexGuard<'_, State>> {
        let mut state = self.lock();
        state.calls += 1;
        if state.trace.len() == TRACE_MAX {
            state.trace.drain(..TRACE_MAX / 2);
        }
        state.trace.push(call);
        if registry::in_callback() {
            return Err(CUresult::NOT_PERMITTED);
        }
        let number = state.calls;
        if let Some(code) = state.failures.remove(&number) {
            if !code.is_sticky() {
                return Err(code);
            }
            self.break_down(&mut state, code, None);
            return Err(self.stopped(state, code));
        }
        if !state.is_initialized && !WORK_BEFORE_INIT.contains(&call) {
            return Err(CUresult::NOT_INITIALIZED);
        }
        state.mind_captures(call)?;
        match state.fault {
            Some(code) if !WORK_AFTER_A_FAULT.contains(&call) => {
                if MISS_A_CONTEXT_FIRST.contains(&call) && state.seen_current() == Current::None {
                    return Err(CUresult::INVALID_CONTEXT);
                }
                Err(self.stopped(state, code))
            }
            _ => Ok(state),
        }
    }

    /// The machine gets a fault. What is pending on the device that had it is dropped, host
    /// functions included; other devices go on, though no call tells any more.
    pub(super) fn break_down(&self, state: &mut State, code: CUresult, device: Option<usize>) {
        if state.fault.is_none() {
            (state.fault, state.fault_of) = (Some(code), device);
        }
        let stops = |stream: &Stream| device.is_none_or(|device| stream.device == device);
        state.drop_pending(stops);
        for stream in state.streams.values() {
            stream.wake.notify_all();
        }
        self.announce();
    }

    /// The code of a fault, once nothing of its device touches memory any more: that is what such a
    /// code proves.
    pub(super) fn stopped(&self, mut state: MutexGuard<'_, State>, code: CUresult) -> CUresult {
        while state.is_touching_memory(state.fault_of) {
            state = self.progress(state);
        }
        state.fault.unwrap_or(code)
    }
}

impl State {
    /// Whether work of a device, or of any, touches memory at this moment.
    fn is_touching_memory(&self, device: Option<usize>) -> bool {
        let mut streams = self.streams.values();
        streams.any(|stream| {
            device.is_none_or(|device| stream.device == device) && stream.is_touching_memory()
        })
    }

    /// A handle that was never used before.
    pub(super) fn new_handle(&mut self, kind: Kind) -> Handle {
        self.serial = self.serial.wrapping_add(1);
        Handle::new(self.index, self.serial, kind)
    }

    pub(super) fn violation(&mut self, text: impl Into<String>) {
        self.violations.push(text.into());
    }
}

impl From<Arc<Inner>> for Machine {
    fn from(inner: Arc<Inner>) -> Self {
        Self { inner }
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("index", &self.inner.index)
            .field("simulation", &self.inner.simulation)
            .finish_non_exhaustive()
    }
}

/// While it lives, no enqueued work of its machine runs. Made by [`Machine::pause`].
#[derive(Debug)]
#[must_use = "work runs again as soon as the guard is dropped"]
pub struct Paused {
    machine: Machine,
}

impl Drop for Paused {
    fn drop(&mut self) {
        let mut state = self.machine.lock();
        state.paused -= 1;
        for stream in state.streams.values() {
            stream.wake.notify_all();
        }
        self.machine.announce();
    }
}

static_assertions::assert_impl_all!(Machine: Clone, Send, Sync, fmt::Debug);
static_assertions::assert_impl_all!(Paused: Send);
