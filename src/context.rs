//! The context token, and the scope that owns what is behind it.

#![allow(unsafe_code)] // releases what it retained, asks for the context's id

use crate::attribute::Attribute;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::{CUcontext, CUresult, CUstream};
use crate::internal::calls;
use crate::internal::completion::Completions;
use crate::internal::current::Entered;
use crate::internal::pool::Pool;
use crate::internal::{current, wait};
use generativity::{Id, make_guard};
use std::fmt;

/// The token that a `with_device` scope hands to its closure: everything on the device is made from it.
///
/// `'ctx` is a *brand*: an invariant lifetime that no other call of `with_device` can have. It does two things at once.
/// As a lifetime it ends with the closure, so nothing made from the context outlives it. As a name it is unique, so an object of one
/// context is a different type from an object of another, and mixing them does not compile.
///
/// The token is `Copy`, `Send` and `Sync`: scoped threads use it as they are.
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// let sum: f32 = driver.with_device(0, |ctx| {
///     let buffer = ctx.upload(&[1.0f32, 2.0, 3.0])?;
///     Ok(buffer.to_vec()?.iter().sum())
/// })?;
/// assert_eq!(sum, 6.0);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Context<'ctx> {
    state: &'ctx ContextState,
    _brand: Id<'ctx>,
}

static_assertions::assert_eq_size!(Context<'static>, usize);
static_assertions::assert_impl_all!(Context<'static>: Copy, Send, Sync);

impl<'ctx> Context<'ctx> {
    /// The device of this context.
    #[must_use]
    pub fn device(self) -> Device {
        self.state.device
    }

    /// The driver of this context.
    #[must_use]
    pub fn driver(self) -> Driver {
        self.state.driver
    }

    /// Free memory of the device in bytes, at this moment, for all processes (`cuMemGetInfo`).
    ///
    /// What this context's pool holds in reserve counts as used.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn free_memory(self) -> Result<usize> {
        current::bind(self.state, || calls::mem_get_info(self.driver())).map(|(free, _total)| free)
    }

    /// The driver's handle, for calls to other libraries. It is live while `'ctx` is.
    #[must_use]
    pub fn as_raw(self) -> CUcontext {
        self.state.raw
    }

    #[inline]
    pub(crate) fn state(self) -> &'ctx ContextState {
        self.state
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context(device {})", self.state.device.ordinal())
    }
}

/// What is behind a token: the retained context with its pool, its service stream and the limits of its device.
pub(crate) struct ContextState {
    driver: Driver,
    device: Device,
    raw: CUcontext,
    /// Tells this context from a later one with the same handle.
    id: u64,
    limits: LaunchLimits,
    pool: Pool,
    /// The stream of operations that are complete when they return.
    service: CUstream,
    /// For copies that outlive a scope.
    completions: Completions,
}

/// What the device allows in a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchLimits {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) threads_per_block: u32,
}

impl LaunchLimits {
    fn of(device: Device) -> Result<Self> {
        let limit = |attribute| {
            device
                .attribute(attribute)
                .map(|value| u32::try_from(value).unwrap_or(0))
        };
        Ok(Self {
            grid: [
                limit(Attribute::MaxGridDimX)?,
                limit(Attribute::MaxGridDimY)?,
                limit(Attribute::MaxGridDimZ)?,
            ],
            block: [
                limit(Attribute::MaxBlockDimX)?,
                limit(Attribute::MaxBlockDimY)?,
                limit(Attribute::MaxBlockDimZ)?,
            ],
            threads_per_block: limit(Attribute::MaxThreadsPerBlock)?,
        })
    }
}

impl ContextState {
    /// `raw` is retained and current.
    fn open(device: Device, raw: CUcontext) -> Result<Self> {
        let driver = device.driver();
        let limits = LaunchLimits::of(device)?;
        // SAFETY: `raw` is retained (C1).
        let id = unsafe { calls::ctx_get_id(driver, raw) }?;
        let pool = Pool::new(device)?;
        let service = calls::stream_create(driver)?;
        Ok(Self {
            driver,
            device,
            raw,
            id,
            limits,
            pool,
            service,
            completions: Completions::default(),
        })
    }

    #[inline]
    pub(crate) fn driver(&self) -> Driver {
        self.driver
    }

    #[inline]
    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Whether both are of one context, and not of one and another that has got its handle after a reset.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        (self.driver, self.raw, self.id) == (other.driver, other.raw, other.id)
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.device.ordinal()
    }

    pub(crate) fn limits(&self) -> &LaunchLimits {
        &self.limits
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn service(&self) -> CUstream {
        self.service
    }

    pub(crate) fn completions(&self) -> &Completions {
        &self.completions
    }

    /// Whether the context is still the one that was retained. Other code in the process can reset it; its objects are dead then,
    /// and some driver calls with them crash (measured: `cuStreamSynchronize`, about half of the time).
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        // SAFETY: the handle came from the driver; a dead one is what is being asked about.
        match unsafe { calls::ctx_get_id(self.driver, self.raw) } {
            Ok(id) => id != self.id,
            Err(error) => matches!(
                error.driver_error().map(|error| error.code()),
                Some(CUresult::CONTEXT_IS_DESTROYED | CUresult::INVALID_CONTEXT)
            ),
        }
    }

    /// # Errors
    /// [`Error::ContextLost`] when [`is_lost`](Self::is_lost).
    #[inline]
    pub(crate) fn not_lost(&self) -> Result<()> {
        if self.is_lost() {
            Err(self.lost())
        } else {
            Ok(())
        }
    }

    #[cold]
    pub(crate) fn lost(&self) -> Error {
        // Nor does the end of a context call its host functions.
        self.driver.sleepers().wake();
        Error::ContextLost {
            ordinal: self.ordinal(),
        }
    }

    /// Runs a driver call that destroys something, from a `Drop`: not after a fault (claim C10) and not when the context took the
    /// object with it; an error goes to the log (claim C4).
    pub(crate) fn tear_down(&self, destroy: impl FnOnce(Driver) -> Result<()>) {
        if self.driver.unpoisoned().is_err() {
            return;
        }
        if let Err(error) = self.not_lost().and_then(|()| destroy(self.driver)) {
            self.driver.log_teardown(self.ordinal(), error);
        }
    }
}

impl Drop for ContextState {
    fn drop(&mut self) {
        let service = self.service;
        self.completions.close(self);
        // Frees may be queued on it still. Nobody is left to use the pool when they have run. (Nothing is lent here: no proof is needed.)
        if let Err(error) = wait::drain(self, service) {
            self.driver.log_teardown(self.ordinal(), error);
        }
        // SAFETY: created in `open`, and every user of it borrows `self` (C1).
        self.tear_down(|driver| unsafe { calls::stream_destroy(driver, service) });
    }
}

/// One retain of a primary context; dropping it releases.
struct Retained {
    device: Device,
    raw: CUcontext,
}

impl Retained {
    fn new(device: Device) -> Result<Self> {
        let raw = calls::primary_ctx_retain(device.driver(), device.as_raw())?;
        Ok(Self { device, raw })
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        let driver = self.device.driver();
        // SAFETY: the retain is this value's, and everything made from the context borrowed it (C1).
        if let Err(error) = unsafe { calls::primary_ctx_release(driver, self.device.as_raw()) } {
            driver.log_teardown(self.device.ordinal(), error);
        }
    }
}

/// The body of [`Driver::with_device`].
///
/// On every way out, panic included, the locals go in reverse: state, thread's stack, retain.
pub(crate) fn with_primary_context<R, E: From<Error>>(
    device: Device,
    f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    let retained = Retained::new(device)?;
    let entered = Entered::new(device, retained.raw)?;
    let outcome = ContextState::open(device, retained.raw)
        .map_err(E::from)
        .and_then(|state| branded(&state, f));
    let left = entered.leave();
    drop(retained);
    let value = outcome?;
    left?;
    Ok(value)
}

fn branded<R, E>(
    state: &ContextState,
    f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    make_guard!(guard);
    f(Context {
        state,
        _brand: guard.into(),
    })
}
