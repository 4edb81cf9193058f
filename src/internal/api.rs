//! What every driver call needs: the entry points, and what the process remembers of the driver.

use crate::error::{DriverError, Error, Result, TeardownError};
use crate::ffi::{CUresult, SYMBOLS, Symbols, Version};
use crate::internal::deferred::Deferred;
use crate::internal::in_flight::InFlightCounts;
use crate::internal::result_text::{error_name, error_text};
use crate::internal::wake::Sleepers;
#[cfg(feature = "sim")]
use crate::sim::Machine;
use std::ffi::{c_int, c_void};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A loaded driver, as the machinery sees it. A copyable reference to something that lives as long
/// as the process; [`Driver`](crate::Driver) is its public face.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    state: &'static State,
}

/// Where the entry points come from.
pub(crate) type Address = Box<dyn Fn(&str, c_int) -> *const c_void + Send + Sync>;

struct State {
    symbols: Symbols,
    version: Version,
    address: Address,
    origin: Origin,
    /// `cuInit` found no device: the driver is there, but no other call would work.
    without_devices: AtomicBool,
    facts: &'static Facts,
    teardown_errors: Mutex<Vec<TeardownError>>,
    deferred: Deferred,
}

/// What is true of the driver in this process, by whatever value of [`Api`] it is called.
struct Facts {
    is_poisoned: AtomicBool,
    first_fault: OnceLock<DriverError>,
    /// Who waits for host functions, which a fault keeps from being called.
    sleepers: Sleepers,
    in_flight: InFlightCounts,
}

/// The facts of the process's CUDA driver. There is one such driver, though a program may load it
/// several times or put functions of its own before it; a fault of one is a fault of all.
static PROCESS: Facts = Facts::new();

impl Facts {
    const fn new() -> Self {
        Self {
            is_poisoned: AtomicBool::new(false),
            first_fault: OnceLock::new(),
            sleepers: Sleepers::new(),
            in_flight: InFlightCounts::new(),
        }
    }
}

/// Where a driver comes from.
#[derive(Default)]
pub(crate) struct Origin {
    /// The driver's ordinal of device 0. Not 0 only for a simulated machine, which shares the
    /// process with others.
    pub(crate) first_ordinal: c_int,
    #[cfg(feature = "sim")]
    pub(crate) machine: Option<Machine>,
}

/// How many teardown errors are kept: the first ones, which tell most.
const TEARDOWN_ERRORS_KEPT: usize = 64;

impl Origin {
    pub(crate) fn is_simulated(&self) -> bool {
        #[cfg(feature = "sim")]
        return self.machine.is_some();
        #[cfg(not(feature = "sim"))]
        false
    }
}

impl Api {
    /// The driver behind these entry points, kept for the rest of the process.
    pub(crate) fn new(
        symbols: Symbols,
        version: Version,
        address: Address,
        origin: Origin,
    ) -> Self {
        // A simulated machine is a driver of its own.
        let facts = match origin.is_simulated() {
            true => Box::leak(Box::new(Facts::new())),
            false => &PROCESS,
        };
        Self {
            state: Box::leak(Box::new(State {
                symbols,
                version,
                address,
                origin,
                without_devices: AtomicBool::new(false),
                facts,
                teardown_errors: Mutex::new(Vec::new()),
                deferred: Deferred::new(),
            })),
        }
    }

    pub(crate) fn version(self) -> Version {
        self.state.version
    }

    #[inline]
    pub(crate) fn symbols(self) -> &'static Symbols {
        &self.state.symbols
    }

    /// The address of any entry point; null when the driver has none of the name and version.
    pub(crate) fn symbol(self, name: &str, version: c_int) -> *const c_void {
        (self.state.address)(name, version)
    }

    pub(crate) fn origin(self) -> &'static Origin {
        &self.state.origin
    }

    /// Remembers that `cuInit` found no device.
    pub(crate) fn set_without_devices(self) {
        self.state.without_devices.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_without_devices(self) -> bool {
        self.state.without_devices.load(Ordering::Relaxed)
    }

    /// The fault that made the driver unusable in this process, if there was one (claim C10).
    pub(crate) fn fault(self) -> Option<DriverError> {
        self.state.facts.first_fault.get().copied()
    }

    /// Takes the errors that destructors met since the last call.
    pub(crate) fn take_teardown_errors(self) -> Vec<TeardownError> {
        std::mem::take(&mut *self.lock_teardown_errors())
    }

    /// Keeps an error for `Driver::take_teardown_errors`. After a fault nothing is kept: everything
    /// would fail.
    #[cold]
    pub(crate) fn log_teardown(self, ordinal: u32, error: Error) {
        if self.fault().is_some() {
            return;
        }
        let mut kept = self.lock_teardown_errors();
        if kept.len() < TEARDOWN_ERRORS_KEPT {
            kept.push(TeardownError { ordinal, error });
        }
    }

    /// Whether calls still make sense; the first fault otherwise (claim C10).
    #[inline]
    pub(crate) fn unpoisoned(self) -> Result<()> {
        if self.state.facts.is_poisoned.load(Ordering::Relaxed) {
            Err(self.poisoned())
        } else {
            Ok(())
        }
    }

    #[cold]
    fn poisoned(self) -> Error {
        match self.fault() {
            Some(first) => Error::Poisoned { first },
            // The flag is set after the fault is stored; this arm is never taken.
            None => Error::Driver(self.describe(CUresult::UNKNOWN, "an earlier call")),
        }
    }

    /// Turns a code into an error and remembers the first sticky fault.
    #[cold]
    pub(crate) fn failed(self, code: CUresult, call: &'static str) -> Error {
        let error = self.describe(code, call);
        if code.is_sticky() {
            self.poison(code, call);
        }
        Error::Driver(error)
    }

    /// Never calls the driver again, after an answer that leaves the work of a device unknown.
    #[cold]
    pub(crate) fn poison(self, code: CUresult, call: &'static str) -> Error {
        let error = self.describe(code, call);
        let facts = self.state.facts;
        let first = *facts.first_fault.get_or_init(|| error);
        facts.is_poisoned.store(true, Ordering::Release);
        facts.sleepers.wake();
        match first == error {
            true => Error::Driver(error),
            false => Error::Poisoned { first },
        }
    }

    pub(crate) fn in_flight(self) -> &'static InFlightCounts {
        &self.state.facts.in_flight
    }

    /// What was dropped in host functions.
    #[inline]
    pub(crate) fn deferred(self) -> &'static Deferred {
        &self.state.deferred
    }

    pub(crate) fn sleepers(self) -> &'static Sleepers {
        &self.state.facts.sleepers
    }

    fn describe(self, code: CUresult, call: &'static str) -> DriverError {
        let symbols = self.symbols();
        DriverError::new(
            code,
            call,
            error_name(symbols, code),
            error_text(symbols, code),
        )
    }

    /// The error for an optional entry point that this driver lacks.
    #[cold]
    pub(crate) fn missing(self, name: &str) -> Error {
        let symbol = SYMBOLS
            .iter()
            .find(|symbol| symbol.name == name)
            .unwrap_or(&SYMBOLS[0]);
        Error::missing(symbol, self.version())
    }

    fn lock_teardown_errors(self) -> std::sync::MutexGuard<'static, Vec<TeardownError>> {
        let kept = &self.state.teardown_errors;
        kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// What is behind the reference is behind locks and atomics, which a panic leaves usable; the
// function that finds entry points is called again after a panic as before it.
impl UnwindSafe for Api {}
impl RefUnwindSafe for Api {}

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.state, other.state)
    }
}

impl Eq for Api {}
