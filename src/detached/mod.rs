//! Values of a context without the context's lifetime.

#![allow(unsafe_code)] // takes lifetimes away and gives them back

mod families;
mod family;

pub use family::{Attached, Family, Plain};

use crate::context::Context;
use crate::error::{Error, Result, WrongContext};
use crate::internal::inside;
use crate::memory::{Buffer, PinnedBuffer};
use crate::owned_context::OwnedContext;
use crate::owned_copy::OwnedCopy;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, transmute_copy};
use std::panic::RefUnwindSafe;
use std::pin::Pin;
use std::task::{self, Poll};

/// A value of a context without the context's lifetime: `'static`. It can be kept in a struct or a
/// `static`, sent to threads and tasks, and held over an `await`.
///
/// Inside a closure that was given the value's context, it is what it was: [`get`](Self::get),
/// [`get_mut`](Self::get_mut) and [`into_inner`](Self::into_inner) compare that context with the
/// value's, one pointer with another, and give the value back under the closure's lifetime.
/// [`with`](Self::with) and [`with_mut`](Self::with_mut) enter the context and do the same.
/// Outside, nothing can be done with the value but to keep, move and drop it.
///
/// It keeps its context alive ([`OwnedContext`]), and may be dropped anywhere: on any thread, with
/// whatever context current or none, after a fault, and in a host function, where it is put aside
/// until a context is entered or a scope ends.
///
/// `F` stands for the value's type with any lifetime in the place of the context's; it is written
/// with `'static` there.
///
/// ```
/// use scoped_cuda::{Buffer, Detached, Driver, OwnedContext, Result, sim::Simulation};
///
/// struct Tensor {
///     shape: Vec<usize>,
///     elements: Detached<Buffer<'static, f32>>,
/// }
///
/// impl Tensor {
///     fn zeros(gpu: &OwnedContext, shape: &[usize]) -> Result<Self> {
///         let len = shape.iter().product();
///         let elements = gpu.with(|ctx| Ok(ctx.detach(ctx.zeros(len)?)))?;
///         Ok(Self { shape: shape.to_vec(), elements })
///     }
///
///     fn copy_from(&mut self, other: &Tensor) -> Result<()> {
///         // An error when the other tensor is of another device.
///         self.elements.with_mut(|ctx, own| own.copy_from(other.elements.get(ctx)?))
///     }
/// }
///
/// # let driver = Driver::simulated(Simulation::default())?;
/// let gpu = driver.retain(0)?;
/// let (first, mut second) = (Tensor::zeros(&gpu, &[2, 3])?, Tensor::zeros(&gpu, &[6])?);
/// drop(gpu); // the tensors have it
/// let back = std::thread::spawn(move || {
///     second.copy_from(&first)?;
///     second.elements.with(|_, elements| elements.to_vec())
/// });
/// assert_eq!(back.join().unwrap()?, [0.0; 6]);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[must_use]
pub struct Detached<F: Family> {
    parts: ManuallyDrop<Parts<F::In<'static>>>,
    /// That it may be shared is said below: of the type with any lifetime, not with this one.
    _not_sync: PhantomData<Cell<()>>,
}

struct Parts<V> {
    value: V,
    /// Dropped after the value.
    owner: OwnedContext,
}

// SAFETY: a shared one gives shared references to its value with any lifetime (`get`), and the
// owner, which may be shared.
unsafe impl<F: Family> Sync for Detached<F> where for<'ctx> F::In<'ctx>: Sync {}

impl<F: Family> RefUnwindSafe for Detached<F> where F::In<'static>: RefUnwindSafe {}

// The value moves in and out.
impl<F: Family> Unpin for Detached<F> {}

static_assertions::assert_impl_all!(Detached<Buffer<'static, f32>>: Send, Sync, Unpin, std::panic::UnwindSafe, RefUnwindSafe);
static_assertions::assert_not_impl_any!(Detached<Buffer<'static, f32>>: Clone);
static_assertions::assert_not_impl_any!(Detached<Buffer<'static, Cell<u8>>>: Sync);

impl<'ctx> Context<'ctx> {
    /// Takes this context's lifetime off a value, which then keeps the context. No driver call.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let (buffer, stream) = driver.with_device(0, |ctx| {
    ///     Ok((ctx.detach(ctx.upload(&[1u32, 2, 3])?), ctx.detach(ctx.new_stream()?)))
    /// })?;
    /// let sum = buffer.with(|ctx, buffer| {
    ///     assert!(stream.get(ctx)?.is_idle()?); // of the same context
    ///     Ok(buffer.to_vec()?.iter().sum::<u32>())
    /// })?;
    /// assert_eq!(sum, 6);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn detach<A: Attached<'ctx>>(self, value: A) -> Detached<A::Family> {
        Detached::new(self, value)
    }
}

impl<F: Family> Detached<F> {
    /// `value` is of the context: both carry its lifetime.
    fn new<'ctx>(context: Context<'ctx>, value: F::In<'ctx>) -> Self {
        let owner = context.owner();
        let value = ManuallyDrop::new(value);
        // SAFETY: the same type but for the lifetime. All that it can borrow for `'ctx` lives as
        // long as the context, or for ever, and the owner beside it keeps the context (C1).
        let value = unsafe { transmute_copy::<F::In<'ctx>, F::In<'static>>(&value) };
        Self::of(Parts { value, owner })
    }

    fn of(parts: Parts<F::In<'static>>) -> Self {
        Self {
            parts: ManuallyDrop::new(parts),
            _not_sync: PhantomData,
        }
    }

    /// The value's context.
    #[must_use = "it does nothing"]
    pub fn owner(&self) -> &OwnedContext {
        &self.parts.owner
    }

    /// The value, in its context. No driver call.
    ///
    /// # Errors
    /// [`Error::WrongContext`] when `ctx` is another context.
    #[inline]
    pub fn get<'ctx>(&self, ctx: Context<'ctx>) -> Result<&F::In<'ctx>> {
        self.check(ctx)?;
        // SAFETY: the same type but for a lifetime, which is that of an entry into the value's own
        // context (C1, C2).
        Ok(unsafe { &*(&raw const self.parts.value).cast::<F::In<'ctx>>() })
    }

    /// The value, in its context, to change it. No driver call.
    ///
    /// # Errors
    /// [`Error::WrongContext`] when `ctx` is another context.
    #[inline]
    pub fn get_mut<'ctx>(&mut self, ctx: Context<'ctx>) -> Result<&mut F::In<'ctx>> {
        self.check(ctx)?;
        // SAFETY: as in `get`. What is put into its place is of the same context.
        Ok(unsafe { &mut *(&raw mut self.parts.value).cast::<F::In<'ctx>>() })
    }

    /// The value itself, in its context. No driver call.
    ///
    /// # Errors
    /// [`WrongContext`] with the detached value when `ctx` is another context.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let (gpu0, gpu1) = (driver.retain(0)?, driver.retain(1)?);
    /// let buffer = gpu0.with(|ctx| Ok(ctx.detach(ctx.upload(&[7u8])?)))?;
    /// let buffer = gpu1.with(|ctx| {
    ///     let refused = buffer.into_inner(ctx).unwrap_err();
    ///     assert_eq!(refused.error, Error::WrongContext { of: 0, entered: 1 });
    ///     Ok(refused.value)
    /// })?;
    /// let back = gpu0.with(|ctx| buffer.into_inner(ctx)?.to_vec())?;
    /// assert_eq!(back, [7]);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn into_inner<'ctx>(self, ctx: Context<'ctx>) -> Result<F::In<'ctx>, WrongContext<Self>> {
        if let Err(error) = self.check(ctx) {
            return Err(WrongContext::new(self, error));
        }
        let Parts { value, owner } = self.into_parts();
        drop(owner); // `ctx` has a share as well
        let value = ManuallyDrop::new(value);
        // SAFETY: as in `get`; what is moved out here is not dropped there.
        Ok(unsafe { transmute_copy::<F::In<'static>, F::In<'ctx>>(&value) })
    }

    /// Enters the value's context and runs `f` with the value: [`OwnedContext::with`] and
    /// [`get`](Self::get).
    ///
    /// # Errors
    /// As [`OwnedContext::with`].
    #[inline]
    pub fn with<R>(
        &self,
        f: impl for<'ctx> FnOnce(Context<'ctx>, &F::In<'ctx>) -> Result<R>,
    ) -> Result<R> {
        self.owner().with(|ctx| f(ctx, self.get(ctx)?))
    }

    /// Enters the value's context and runs `f` with the value, to change it: [`OwnedContext::with`]
    /// and [`get_mut`](Self::get_mut).
    ///
    /// # Errors
    /// As [`OwnedContext::with`].
    #[inline]
    pub fn with_mut<R>(
        &mut self,
        f: impl for<'ctx> FnOnce(Context<'ctx>, &mut F::In<'ctx>) -> Result<R>,
    ) -> Result<R> {
        // A share of its own, because `self` is borrowed for the value.
        let owner = self.owner().clone();
        owner.with(|ctx| f(ctx, self.get_mut(ctx)?))
    }

    /// The value as it is stored, for the crate to poll it, and its owner.
    pub(crate) fn stored(&mut self) -> (&mut F::In<'static>, OwnedContext) {
        let owner = self.owner().clone();
        (&mut self.parts.value, owner)
    }

    /// A value as it is stored, beside its owner.
    ///
    /// # Safety
    /// `value` is of the context that `owner` owns: it came of one that was [stored](Self::stored).
    pub(crate) unsafe fn from_stored(value: F::In<'static>, owner: OwnedContext) -> Self {
        Self::of(Parts { value, owner })
    }

    #[inline]
    fn check(&self, ctx: Context<'_>) -> Result<()> {
        match self.owner().is_of(ctx) {
            true => Ok(()),
            false => Err(self.wrong_context(ctx)),
        }
    }

    #[cold]
    fn wrong_context(&self, ctx: Context<'_>) -> Error {
        Error::WrongContext {
            of: self.owner().device().ordinal(),
            entered: ctx.device().ordinal(),
        }
    }

    fn into_parts(self) -> Parts<F::In<'static>> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: once: `this` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.parts) }
    }
}

/// A copy in flight, as [`OwnedCopy`] is a future, that a task can own whatever it is of.
///
/// # Errors
/// As [`OwnedCopy::wait`]; [`Error::InsideHostFunction`].
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # use std::{pin::pin, sync::Arc, task::{Context, Poll, Wake, Waker}, thread};
/// # struct Unpark(thread::Thread);
/// # impl Wake for Unpark {
/// #     fn wake(self: Arc<Self>) {
/// #         self.0.unpark();
/// #     }
/// # }
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = pin!(future);
/// #     let waker = Waker::from(Arc::new(Unpark(thread::current())));
/// #     loop {
/// #         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
/// #             Poll::Ready(output) => return output,
/// #             Poll::Pending => thread::park(),
/// #         }
/// #     }
/// # }
/// # let driver = Driver::simulated(Simulation::default())?;
/// let copy = driver.with_device(0, |ctx| {
///     let (host, device) = (ctx.pinned_from(&[1u32, 2, 3])?, ctx.zeros(3)?);
///     Ok(ctx.detach(ctx.new_stream()?.upload_owned(host, device)?))
/// })?;
/// let task = async move { copy.await?.with(|_ctx, (_host, device)| device.to_vec()) };
/// assert_eq!(block_on(task)?, [1, 2, 3]);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
impl<T: Send + 'static> Future for Detached<OwnedCopy<'_, T>> {
    type Output = Result<Detached<(PinnedBuffer<'static, T>, Buffer<'static, T>)>>;

    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<Self::Output> {
        inside::not_inside()?;
        let (copy, owner) = self.get_mut().stored();
        let polled = Pin::new(copy).poll(task);
        // SAFETY: the sides are of the context of their copy.
        polled.map(|sides| Ok(unsafe { Detached::from_stored(sides?, owner) }))
    }
}

impl<F: Family> Drop for Detached<F> {
    fn drop(&mut self) {
        let deferred = self.owner().device().api().deferred();
        // SAFETY: once, here.
        let parts = unsafe { ManuallyDrop::take(&mut self.parts) };
        if inside::not_inside().is_err() {
            // The value's destructor calls the driver, which a host function may not do (C11).
            deferred.drop_later(Box::new(parts));
        }
    }
}

impl<F: Family> fmt::Debug for Detached<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<F>();
        write!(
            f,
            "Detached({name}, device {})",
            self.owner().device().ordinal()
        )
    }
}
