//! Contexts that are owned: not the frame of one closure.

use crate::context::{Context, branded};
use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::CUcontext;
use crate::internal::current::Visit;
use crate::internal::inside;
use crate::internal::retained::{self, Retained, Share};
use std::fmt;

/// A device's context that lives as long as it has owners: `'static`, `Clone`, `Send` and `Sync`.
/// For a library, a server, or a loop whose frames are functions of their own.
///
/// It is entered with [`with`](Self::with), which gives a closure a [`Context`] with a lifetime
/// that no other call has, as [`Driver::with_device`] does. Everything inside is as it is there.
/// The memory pool, the stream of operations at rest and what else a context has once is made once,
/// and entering costs the driver calls that make a context current and nothing else.
///
/// A device has one such context at a time: whoever [retains](Driver::retain) it gets the same one,
/// and `with_device` enters it too. Owners of one context are equal.
///
/// Any thread may drop the last owner, with whatever context current or none. That frees the pool
/// and releases the context, after what is left of its work: what was dropped in flight
/// ([`Submitted`](crate::Submitted), [`OwnedCopy`](crate::OwnedCopy)) is waited for. An owner that
/// is dropped in a host function, where no driver call is allowed, is kept until a context is
/// entered or a scope ends. After a fault nothing is called. An owner in a `static` is never
/// dropped; the driver frees everything when the process ends.
///
/// ```
/// use scoped_cuda::{Driver, OwnedContext, Result, sim::Simulation};
///
/// struct Service {
///     gpu: OwnedContext,
/// }
///
/// impl Service {
///     fn sum(&self, numbers: &[u32]) -> Result<u32> {
///         self.gpu.with(|ctx| Ok(ctx.upload(numbers)?.to_vec()?.iter().sum()))
///     }
/// }
///
/// let driver = Driver::simulated(Simulation::default())?;
/// let service = Service { gpu: driver.retain(0)? };
/// let worker = std::thread::spawn(move || service.sum(&[1, 2, 3]));
/// assert_eq!(worker.join().unwrap()?, 6);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[must_use = "a context without an owner is released"]
pub struct OwnedContext {
    share: Share,
}

static_assertions::assert_impl_all!(OwnedContext: Clone, Send, Sync, Unpin, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl Driver {
    /// The context of device `ordinal`, to own: made if the device has no owner yet
    /// (`cuDevicePrimaryCtxRetain`, `cuMemPoolCreate`, `cuStreamCreate`), and shared otherwise.
    ///
    /// # Errors
    /// The errors of [`device`](Self::device) and of the driver calls.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let (first, second) = (driver.retain(0)?, driver.retain(0)?);
    /// assert_eq!(first, second);
    /// assert_ne!(first, driver.retain(1)?);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuDevicePrimaryCtxRetain")]
    #[doc(alias = "cuMemPoolCreate")]
    #[doc(alias = "cuStreamCreate")]
    pub fn retain(self, ordinal: u32) -> Result<OwnedContext> {
        let device = self.device(ordinal)?;
        device.api().deferred().drop_now();
        let share = match retained::find(device) {
            Some(share) => share,
            None => {
                let opened = Retained::open(device)?;
                retained::offer(&opened)
            }
        };
        Ok(OwnedContext { share })
    }
}

impl OwnedContext {
    /// Runs `f` with the context current and as a [`Context`] whose lifetime no other call has.
    /// Afterwards, on `Ok`, `Err` and panic, what was current is current again. Calls nest, in
    /// themselves and with other contexts.
    ///
    /// It does not wait for work that owns what it uses and goes on
    /// ([`Submitted`](crate::Submitted), [`OwnedCopy`](crate::OwnedCopy)). What was dropped in
    /// flight, the context keeps until it is done, and drops when it is entered then.
    ///
    /// Code inside that changes the thread's context stack by driver calls of its own should leave
    /// it as it was. If it does not, what was current is made current again, but an entry below
    /// that may be missing, or be there twice. `with_device` remembers each entry.
    ///
    /// Driver calls: `cuCtxGetId`, `cuCtxGetCurrent`, and `cuCtxPushCurrent` with its counterpart
    /// if the context is not current.
    ///
    /// # Errors
    /// [`Error::ContextLost`], [`Error::Poisoned`], [`Error::InsideHostFunction`], what the driver
    /// returns, and the errors of `f`.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let gpu = driver.retain(0)?;
    /// for number in 0..3u32 {
    ///     let back = gpu.with(|ctx| ctx.upload(&[number; 4])?.to_vec())?;
    ///     assert_eq!(back, [number; 4]);
    /// }
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    pub fn with<R>(&self, f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R>) -> Result<R> {
        self.try_with(f)
    }

    /// [`with`](Self::with) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let gpu = Driver::simulated(Simulation::default())?.retain(0)?;
    /// let parsed = gpu.try_with(|ctx| -> Result<i32, Box<dyn std::error::Error>> {
    ///     let buffer = ctx.upload(&["7".parse::<i32>()?])?;
    ///     Ok(buffer.to_vec()?[0])
    /// });
    /// assert_eq!(parsed.unwrap(), 7);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    pub fn try_with<R, E: From<Error>>(
        &self,
        f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        inside::not_inside()?;
        let state = self.share.state();
        state.api().deferred().drop_now();
        state.completions().reclaim(state);
        let visit = Visit::new(state)?;
        let outcome = branded(&self.share, f);
        let left = visit.leave();
        let value = outcome?;
        left?;
        Ok(value)
    }

    /// Whether `ctx` is an entry into this context.
    #[inline]
    pub(crate) fn is_of(&self, ctx: Context<'_>) -> bool {
        self.share.is_of(ctx.retained())
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.share.state().device()
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> Driver {
        self.device().driver()
    }

    /// The driver's handle, for calls to other libraries. It is live while there are owners.
    #[must_use]
    pub fn as_raw(&self) -> CUcontext {
        self.share.state().raw()
    }
}

impl Clone for OwnedContext {
    /// One owner more. No driver call.
    fn clone(&self) -> Self {
        Self {
            share: self.share.clone(),
        }
    }
}

impl PartialEq for OwnedContext {
    /// Whether both own one context.
    fn eq(&self, other: &Self) -> bool {
        self.share.is_of(&other.share)
    }
}

impl Eq for OwnedContext {}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        if inside::not_inside().is_err() {
            // This one may be the last.
            let deferred = self.device().api().deferred();
            deferred.drop_later(Box::new(self.clone()));
        }
    }
}

impl fmt::Debug for OwnedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnedContext(device {})", self.device().ordinal())
    }
}

impl Context<'_> {
    /// An owner of this context, which then lives on when the closure that was given it has ended.
    /// No driver call.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let gpu = driver.with_device(0, |ctx| Ok(ctx.owner()))?;
    /// assert_eq!(gpu, driver.retain(0)?);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn owner(self) -> OwnedContext {
        OwnedContext {
            share: self.retained().share(),
        }
    }
}
