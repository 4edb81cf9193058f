//! The context token, and the scope that owns what is behind it.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::CUcontext;
use crate::internal::api::Api;
use crate::internal::context_handle::ContextHandle;
use crate::internal::context_state::ContextState;
use crate::internal::current::Entered;
use crate::internal::retained::{self, Retained};
use generativity::{Id, make_guard};
use std::fmt;

/// The token that a `with_device` scope, or [`OwnedContext::with`](crate::OwnedContext::with),
/// hands to its closure: everything on the device is made from it.
///
/// `'ctx` is a *brand*: an invariant lifetime that no other call of them can have. It does two
/// things at once. As a lifetime it ends with the closure, so nothing made from the context
/// outlives it. As a name it is unique, so an object of one context is a different type from an
/// object of another, and mixing them does not compile.
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
    retained: &'ctx Retained,
    _brand: Id<'ctx>,
}

static_assertions::assert_eq_size!(Context<'static>, usize);
static_assertions::assert_impl_all!(Context<'static>: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'ctx> Context<'ctx> {
    /// The device of this context.
    #[must_use]
    pub fn device(self) -> Device {
        self.state().device()
    }

    /// The driver's handle, for calls to other libraries. It is live while `'ctx` is.
    #[must_use]
    pub fn as_raw(self) -> CUcontext {
        self.state().raw()
    }

    #[inline]
    pub(crate) fn api(self) -> Api {
        self.state().api()
    }

    #[inline]
    pub(crate) fn handle(self) -> &'ctx ContextHandle {
        self.state()
    }

    #[inline]
    pub(crate) fn state(self) -> &'ctx ContextState {
        self.retained.state()
    }

    #[inline]
    pub(crate) fn retained(self) -> &'ctx Retained {
        self.retained
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context(device {})", self.state().device().ordinal())
    }
}

/// The body of [`Driver::with_device`](crate::Driver::with_device): the context that the owners of
/// the device share, or else one for this call.
///
/// On every way out, panic included, the locals go in reverse: the thread's stack, the context.
pub(crate) fn with_primary_context<R, E: From<Error>>(
    device: Device,
    f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    device.api().deferred().drop_now();
    let retained = match retained::find(device) {
        Some(share) => share,
        None => Retained::open(device)?,
    };
    let entered = Entered::new(device, retained.state().raw())?;
    let outcome = branded(&retained, f);
    let left = entered.leave();
    drop(retained);
    let value = outcome?;
    left?;
    Ok(value)
}

/// Gives `f` the token of a context that has an owner for as long as this runs.
#[inline]
pub(crate) fn branded<R, E>(
    retained: &Retained,
    f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    make_guard!(guard);
    f(Context {
        retained,
        _brand: guard.into(),
    })
}
