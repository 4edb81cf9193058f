//! What the machines of a process share: who is who, and what belongs to a thread.

use super::Simulation;
use super::machine::{Inner, Machine};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, LazyLock, PoisonError, RwLock, Weak};

/// The most devices a machine can have: the width of its range of ordinals.
pub(super) const DEVICES_MAX: u32 = 64;

/// Device addresses are handed out in regions of this size, so that an address tells its machine
/// and is never reused.
const REGION_SHIFT: u32 = 36;
/// No host pointer has this bit: user space ends far below it.
const DEVICE_BIT: u64 = 1 << 62;

static MACHINES: RwLock<Vec<Weak<Inner>>> = RwLock::new(Vec::new());
/// Answers a thread that has used no machine yet, so that such a thread disturbs nobody's call
/// counts.
static NOBODYS: LazyLock<Machine> = LazyLock::new(|| {
    let machine = Machine::start(Simulation::default().devices(0));
    machine.lock().is_initialized = true;
    machine
});
static REGIONS: RwLock<Vec<u32>> = RwLock::new(Vec::new());
/// Memory that devices and programs know by one address: first byte, bytes and machine.
static SHARED: RwLock<BTreeMap<u64, (usize, u32)>> = RwLock::new(BTreeMap::new());

thread_local! {
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    static LAST: Cell<Option<u32>> = const { Cell::new(None) };
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// What a handle names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Context = 1,
    Stream,
    Event,
    Module,
    Function,
    Pool,
    Linker,
    Graph,
    GraphNode,
    GraphExec,
}

/// A driver handle: the number of its machine, a serial number that is never reused, and its kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Handle(u64);

impl Handle {
    pub(super) const NULL: Self = Self(0);

    pub(super) fn new(machine: u32, serial: u32, kind: Kind) -> Self {
        // Machine 0 must not make handles that look like small integers.
        Self(((u64::from(machine) + 1) << 40) | (u64::from(serial) << 8) | kind as u64)
    }

    pub(super) fn from_ptr(pointer: *mut c_void) -> Self {
        Self(pointer.addr() as u64)
    }

    pub(super) fn as_ptr(self) -> *mut c_void {
        ptr::without_provenance_mut(self.0 as usize)
    }

    /// The NULL stream and the two other names (`CU_STREAM_LEGACY`, `CU_STREAM_PER_THREAD`) that
    /// stand for no object.
    pub(super) fn is_default_stream(self) -> bool {
        self.0 <= 2
    }

    fn machine(self) -> Option<u32> {
        u32::try_from((self.0 >> 40).checked_sub(1)?).ok()
    }
}

/// How a call says which machine it is for.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// By an object of it.
    Handle(Handle),
    /// By a device ordinal.
    Device(c_int),
    /// By a device address, or by a host address that the machine gave out.
    Address(u64),
    /// By what is current: the machine of the current context, or the one this thread used last.
    Current,
    /// Not at all: the one this thread used last.
    Nothing,
}

impl Named {
    /// The machine meant; when there is none, the one this thread used last has to answer, or else
    /// a machine of nobody's.
    pub(super) fn machine(self) -> Machine {
        let index = match self {
            Self::Handle(handle) if !handle.is_default_stream() => handle.machine(),
            Self::Device(ordinal) => u32::try_from(ordinal)
                .ok()
                .map(|ordinal| ordinal / DEVICES_MAX),
            Self::Address(address) => machine_of(address),
            Self::Handle(_) | Self::Current => {
                let top = with_stack(|stack| stack.last().copied()).flatten();
                top.and_then(Handle::machine)
            }
            Self::Nothing => None,
        };
        let named = index.and_then(machine);
        if let Some(named) = &named {
            select(named.index());
        }
        let last = || LAST.get().and_then(machine);
        named.or_else(last).unwrap_or_else(|| NOBODYS.clone())
    }
}

/// Gives a new machine its number.
pub(super) fn register(make: impl FnOnce(u32) -> Inner) -> Machine {
    let mut machines = MACHINES.write().unwrap_or_else(PoisonError::into_inner);
    let index = u32::try_from(machines.len()).unwrap_or(u32::MAX);
    let inner = Arc::new(make(index));
    machines.push(Arc::downgrade(&inner));
    Machine::from(inner)
}

fn machine(index: u32) -> Option<Machine> {
    let machines = MACHINES.read().unwrap_or_else(PoisonError::into_inner);
    machines.get(index as usize)?.upgrade().map(Machine::from)
}

/// Makes a machine the one that answers this thread's calls that name nothing.
pub(super) fn select(index: u32) {
    LAST.set(Some(index));
}

/// Device addresses for one machine: the first and one past the last of at least `bytes`.
pub(super) fn reserve(machine: u32, bytes: u64) -> (u64, u64) {
    let mut regions = REGIONS.write().unwrap_or_else(PoisonError::into_inner);
    let first = regions.len() as u64;
    let count = (bytes >> REGION_SHIFT) + 1;
    regions.extend((0..count).map(|_| machine));
    (
        DEVICE_BIT | (first << REGION_SHIFT),
        DEVICE_BIT | ((first + count) << REGION_SHIFT),
    )
}

fn machine_of(address: u64) -> Option<u32> {
    if address & DEVICE_BIT == 0 {
        let shared = SHARED.read().unwrap_or_else(PoisonError::into_inner);
        let (first, &(bytes, machine)) = shared.range(..=address).next_back()?;
        return (address - first < bytes as u64).then_some(machine);
    }
    let regions = REGIONS.read().unwrap_or_else(PoisonError::into_inner);
    regions
        .get(usize::try_from((address & !DEVICE_BIT) >> REGION_SHIFT).ok()?)
        .copied()
}

/// Takes note that a machine has given out `bytes` of the program's own memory at `address`.
pub(super) fn share(address: u64, bytes: usize, machine: u32) {
    let mut shared = SHARED.write().unwrap_or_else(PoisonError::into_inner);
    shared.insert(address, (bytes, machine));
}

/// Takes [`share`] back.
pub(super) fn unshare(address: u64) {
    let mut shared = SHARED.write().unwrap_or_else(PoisonError::into_inner);
    shared.remove(&address);
}

/// The calling thread's context stack; `None` when the thread is past the destructors of its
/// thread-locals.
pub(super) fn with_stack<R>(f: impl FnOnce(&mut Vec<Handle>) -> R) -> Option<R> {
    STACK.try_with(|stack| f(&mut stack.borrow_mut())).ok()
}

/// Whether this thread is inside a host function or a kernel body, where driver calls are not
/// permitted.
pub(super) fn in_callback() -> bool {
    IN_CALLBACK.get()
}

/// Runs a host function or a kernel body.
pub(super) fn callback<R>(f: impl FnOnce() -> R) -> R {
    IN_CALLBACK.set(true);
    let result = f();
    IN_CALLBACK.set(false);
    result
}
