//! The region in which work may be pending, and one stream inside it.

#![allow(unsafe_code)] // enqueues operations on borrowed memory

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::CUstream;
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use crate::internal::context_state::ContextState;
use crate::internal::few::Few;
use crate::internal::host_function::Owner;
use crate::internal::in_flight::InFlight;
use crate::internal::loans::LoanScope;
use crate::internal::wait::{HostUse, InUse, settle};
use crate::stream::Stream;
use generativity::{Id, make_guard};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// Runs `f` with a [`Scope`] in which work on any streams of any contexts may be pending, then
/// waits for all of it, on `Ok`, `Err` and panic. For a single stream [`Stream::scope`] says the
/// same in fewer words.
///
/// # Errors
/// The error of `f`; when there is none, the first error of the work itself.
///
/// # Aborts
/// [As described](crate::safety#where-the-process-ends): when host memory is lent to a stream, and
/// a wait for it fails in a way that does not prove that the work has stopped.
///
/// ```
/// # use scoped_cuda::{Driver, scope, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let streams = [ctx.new_stream()?, ctx.new_stream()?];
/// let (mut a, mut b) = (ctx.zeros::<u32>(2)?, ctx.zeros::<u32>(2)?);
/// scope(|scope| {
///     scope.on(&streams[0], |s| s.fill(&mut a.lend(s), 1))?;
///     scope.on(&streams[1], |s| s.fill(&mut b.lend(s), 2)) // at the same time
/// })?;
/// assert_eq!((a.to_vec()?, b.to_vec()?), (vec![1, 1], vec![2, 2]));
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub fn scope<'scope, R>(f: impl FnOnce(&Scope<'scope>) -> Result<R>) -> Result<R> {
    try_scope(f)
}

/// [`scope`](scope()) for a caller with an error type of its own.
///
/// # Errors
/// As there, through `E::from`.
///
/// # Aborts
/// [As described](crate::safety#where-the-process-ends), when host memory is lent to a stream.
pub fn try_scope<'scope, R, E: From<Error>>(
    f: impl FnOnce(&Scope<'scope>) -> Result<R, E>,
) -> Result<R, E> {
    let owner = Owner::new();
    let scope = Scope::new(owner);
    settle(
        Some(owner),
        || f(&scope),
        || {
            let mut used = scope.used.lock().unwrap_or_else(PoisonError::into_inner);
            let used = mem::take(&mut *used).into_iter();
            used.map(|used| InUse {
                context: used.context,
                stream: used.stream,
                in_flight: used.in_flight,
                host: HostUse::Loans(used.loans),
            })
        },
    )
}

/// A region in which work may be pending. Made by [`scope`](scope()).
pub struct Scope<'scope> {
    used: Mutex<Few<Used<'scope>>>,
    owner: Owner,
    /// A scope that could be taken for a shorter one would lend memory that is not borrowed until
    /// the wait.
    _invariant: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// A stream that a scope has to wait for.
struct Used<'scope> {
    context: &'scope ContextHandle,
    stream: CUstream,
    in_flight: InFlight,
    loans: LoanScope<'scope>,
}

impl Scope<'_> {
    /// The caller waits for the streams before `'scope` ends (C5), or sees to it that all that can
    /// be lent for it stays until their work is done (C11).
    pub(crate) fn new(owner: Owner) -> Self {
        Self {
            used: Mutex::new(Few::new()),
            owner,
            _invariant: PhantomData,
        }
    }

    /// The streams that were used.
    pub(crate) fn into_streams(self) -> Few<CUstream> {
        let used = self.used.into_inner();
        let used = used.unwrap_or_else(PoisonError::into_inner);
        let mut streams = Few::new();
        used.iter().for_each(|used| streams.push(used.stream));
        streams
    }
}

static_assertions::assert_impl_all!(Scope<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'scope> Scope<'scope> {
    /// Runs `f` with permission to enqueue work on `stream`, and returns without waiting for it.
    ///
    /// Calls nest, which is how several streams are at hand at once; the scope waits at its end for
    /// every stream used.
    ///
    /// # Errors
    /// The error of `f`; [`Error::ContextLost`] through `E::from`, and `f` is not called, when the
    /// stream has gone with its context.
    pub fn on<'ctx, R, E: From<Error>>(
        &self,
        stream: &'scope Stream<'ctx>,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        let (context, raw) = (stream.context().handle(), stream.as_raw());
        context.not_lost()?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |used: &Used<'_>| std::ptr::eq(used.context, context) && used.stream == raw;
        if !used.iter().any(is_same) {
            used.push(Used {
                context,
                stream: raw,
                in_flight: context.in_flight(),
                loans: stream.loans().open(),
            });
        }
        drop(used);
        make_guard!(guard);
        f(ScopedStream::new(stream, guard.into(), self.owner))
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scope")
    }
}

impl<'ctx> Stream<'ctx> {
    /// Runs `f` with permission to enqueue work on this stream that borrows memory, then waits for
    /// the work, on `Ok`, `Err` and panic.
    ///
    /// Memory is lent for `'scope`, a lifetime that ends after the call: nothing lent can be
    /// touched before the wait. That holds whatever `f` does with the values it gets, `mem::forget`
    /// included, because the wait is in this function's frame and not in a destructor.
    ///
    /// Driver calls: the calls of `f`, then `cuStreamSynchronize`.
    ///
    /// # Errors
    /// The error of `f`; when there is none, the error of the work itself.
    ///
    /// # Aborts
    /// When the wait fails in a way that does not prove the work has stopped.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let mut buffer = ctx.zeros::<f32>(3)?;
    /// let (input, mut output) = ([1.0, 2.0, 3.0], [0.0; 3]);
    /// stream.scope(|s| {
    ///     let mut device = buffer.lend(s);
    ///     s.write(&input, &mut device)?;
    ///     s.read(&device, &mut output)
    /// })?;
    /// assert_eq!(output, input);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn scope<'scope, R>(
        &'scope self,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R>,
    ) -> Result<R> {
        self.try_scope(f)
    }

    /// [`scope`](Self::scope) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when host memory is lent to a stream.
    pub fn try_scope<'scope, R, E: From<Error>>(
        &'scope self,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.context().state().not_lost()?;
        let owner = Owner::new();
        let in_flight = self.context().handle().in_flight();
        let loans = self.loans().open();
        settle(
            Some(owner),
            || {
                make_guard!(guard);
                f(ScopedStream::new(self, guard.into(), owner))
            },
            || {
                [InUse {
                    context: self.context().handle(),
                    stream: self.as_raw(),
                    in_flight,
                    host: HostUse::Loans(loans),
                }]
            },
        )
    }
}

/// A stream inside a scope: permission to enqueue work that borrows memory for `'scope`.
///
/// `'s` is the stream's brand here: an [`OnStream`](crate::OnStream) of another stream is another
/// type. The token is `Copy`; each method enqueues and returns, and the work runs in the order of
/// the calls.
#[derive(Clone, Copy)]
pub struct ScopedStream<'s, 'scope, 'ctx> {
    stream: &'scope Stream<'ctx>,
    brand: Id<'s>,
    /// The scope, for what reports to it.
    owner: Owner,
    _invariant: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// The caller waits for `stream` before `'scope` ends (C5), or sees to it that all that can be
    /// lent for it stays until the stream's work is done (C11).
    pub(crate) fn new(stream: &'scope Stream<'ctx>, brand: Id<'s>, owner: Owner) -> Self {
        Self {
            stream,
            brand,
            owner,
            _invariant: PhantomData,
        }
    }

    /// The stream.
    #[must_use]
    pub fn stream(self) -> &'scope Stream<'ctx> {
        self.stream
    }

    /// The stream's context.
    #[must_use]
    pub fn context(self) -> Context<'ctx> {
        self.stream.context()
    }

    pub(crate) fn brand(self) -> Id<'s> {
        self.brand
    }

    pub(crate) fn owner(self) -> Owner {
        self.owner
    }

    #[inline]
    pub(crate) fn explained<R>(self, result: Result<R>) -> Result<R> {
        result.map_err(|error| self.state().explained(error))
    }

    #[inline]
    pub(crate) fn state(self) -> &'ctx ContextState {
        self.stream.context().state()
    }

    /// Makes this stream wait for what `other`, of any context, has been given so far.
    #[inline]
    pub(crate) fn wait_for<'other>(self, other: ScopedStream<'_, 'scope, 'other>) -> Result<()> {
        let (event, driver) = (other.stream.handed_over(), self.state().api());
        // SAFETY: the event was made with its stream, in one context, and both live for `'scope`
        // (C2).
        other.explained(unsafe { calls::event_record(driver, event, other.stream.as_raw()) })?;
        // SAFETY: both live for `'scope`; a wait may cross contexts (C2).
        self.explained(unsafe { calls::stream_wait_event(driver, self.stream.as_raw(), event) })
    }
}

impl fmt::Debug for ScopedStream<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopedStream").field(self.stream).finish()
    }
}
