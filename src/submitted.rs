//! Work of any kind that outlives its scope: it owns what it uses.

#![allow(unsafe_code)] // lends what it owns to the device

use crate::context::Context;
use crate::detached::{Attached, Detached, Family};
use crate::error::{Error, Result};
use crate::ffi::CUstream;
use crate::internal::completion::{Completion, Parked, Progress};
use crate::internal::held::Held;
use crate::internal::host_function::Owner;
use crate::internal::inside;
use crate::internal::patience::ask_for;
use crate::internal::wait::{Failed, drains};
use crate::internal::wake::UserWaker;
use crate::stream::{Scope, ScopedStream, Stream};
use generativity::make_guard;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

/// Work in flight that owns what it uses, and gives it back when it is done. Made by
/// [`Stream::submit`] and [`Context::submit`].
///
/// Nobody can touch what it owns meanwhile, whatever happens to this value:
///
/// - **waited for or awaited**, it gives back what it owns;
/// - **dropped**, it does not wait. The context keeps what it owns until the work is done, and drops
///   it then: when more work is submitted or the context is entered again, at the latest when its
///   last owner goes, who waits for that;
/// - **forgotten**, it leaks what it owns.
///
/// The stream is not borrowed: more work may be enqueued on it, and it may be dropped.
///
/// [`wait`](Self::wait) takes as long as the work does. [`wait_for`](Self::wait_for) has a limit,
/// and a thread that it returned to can leave the work alone: a device that hangs holds nobody. It
/// is then important who drops the context's last owner, since that one waits; keep one where it is
/// never dropped. Freeing page-locked memory also waits for the device (`cuMemFreeHost`).
///
/// # As a future
/// As [`OwnedCopy`](crate::OwnedCopy): it needs no thread, and runs under any executor inside the
/// context's closure; [detached](Context::detach) it runs under any executor anywhere.
#[must_use = "dropped, work gives nothing back: `wait` for it, or `await` it"]
pub struct Submitted<'ctx, A> {
    context: Context<'ctx>,
    state: State<A>,
}

enum State<A> {
    Running(Work<A>),
    /// There is no work any more, or there was none.
    Stopped(Held<A>),
    /// The work may be running and nothing tells when it is done: what it owns was leaked.
    Lost(Error),
    Ended,
}

struct Work<A> {
    completion: Completion,
    owner: Owner,
    held: Held<A>,
}

static_assertions::assert_impl_all!(Submitted<'static, Vec<u8>>: Send, Sync, Unpin, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_impl_all!(Submitted<'static, std::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_not_impl_any!(Submitted<'static, *const u8>: Send);
static_assertions::assert_not_impl_any!(Submitted<'static, Vec<u8>>: Clone);

/// Work that was not enqueued as a whole: the error, and what was begun. `?` turns it into its
/// [`Error`], in functions that return one, and leaves what was begun to the context.
#[non_exhaustive]
pub struct NotSubmitted<'ctx, A> {
    /// Why.
    pub error: Error,
    /// What was enqueued before the error, if anything was. It gives back what the work owns.
    pub begun: Submitted<'ctx, A>,
}

static_assertions::assert_not_impl_any!(NotSubmitted<'static, Vec<u8>>: Clone);

/// Work that failed: the error, and what the work owned. `?` turns it into its [`Error`], in
/// functions that return one, and drops what the work owned.
#[non_exhaustive]
pub struct FailedWork<A> {
    /// Why.
    pub error: Error,
    /// What the work owned. `None` when it may be running still, as far as the driver says: then it
    /// is kept until something proves the opposite, or leaked.
    pub owned: Option<A>,
}

static_assertions::assert_not_impl_any!(FailedWork<Vec<u8>>: Clone);

impl<'ctx> Stream<'ctx> {
    /// Enqueues work that uses what `owned` has, and returns without waiting. `enqueue` has all
    /// that a scope has; what it lends to the stream is in `owned`, which is given to it for that,
    /// or lives for ever.
    ///
    /// The host goes on as far as the driver lets it. A copy to memory that is not page-locked
    /// keeps it until that copy is done, and so does a copy of many megabytes from such memory
    /// (measured): results go to a [`PinnedBuffer`](crate::PinnedBuffer).
    ///
    /// What it owns is kept on the heap, at a place that is used again: work that is submitted and
    /// waited for again and again allocates there once.
    ///
    /// Driver calls: the calls of `enqueue`, then `cuEventRecord`.
    ///
    /// # Errors
    /// [`NotSubmitted`] with the error of `enqueue`, or what the driver returned. Nothing is waited
    /// for, unless the driver refuses to record the end of what was enqueued.
    ///
    /// ```
    /// use scoped_cuda::{Buffer, Driver, PinnedBuffer, family, sim::Simulation};
    ///
    /// struct Request<'ctx> {
    ///     input: Vec<f32>,
    ///     device: Buffer<'ctx, f32>,
    ///     output: PinnedBuffer<'ctx, f32>,
    /// }
    /// family!(Request);
    ///
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let mut requests = Vec::new();
    /// for number in 1..=3u8 {
    ///     let input = vec![f32::from(number); 4]; // came in just now
    ///     let request = Request { input, device: ctx.zeros(4)?, output: ctx.pinned_zeros(4)? };
    ///     requests.push(stream.submit(request, |s, request| {
    ///         let mut device = request.device.lend(s);
    ///         s.write(&request.input, &mut device)?;
    ///         s.read(&device, &mut request.output)
    ///     })?);
    /// }
    /// for (request, number) in requests.into_iter().zip(1..=3u8) {
    ///     assert_eq!(request.wait()?.output[..], [f32::from(number); 4]);
    /// }
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventRecord")]
    pub fn submit<A: Attached<'ctx>>(
        &self,
        owned: A,
        enqueue: impl for<'s, 'scope> FnOnce(
            ScopedStream<'s, 'scope, 'ctx>,
            &'scope mut A,
        ) -> Result<()>,
    ) -> Result<Submitted<'ctx, A>, Box<NotSubmitted<'ctx, A>>> {
        Submitted::begin(self.context(), owned, |owner, lent| {
            let loans = self.loans().open();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                make_guard!(guard);
                enqueue(ScopedStream::new(self, guard.into(), owner), lent)
            }));
            drop(loans);
            (outcome, [self.as_raw()])
        })
    }
}

impl<'ctx> Context<'ctx> {
    /// [`Stream::submit`] over several streams of this context: `enqueue` has what the closure of
    /// [`scope`](crate::scope()) has. The streams are in `owned`, or live for ever.
    ///
    /// Driver calls: the calls of `enqueue`, then `cuEventRecord` and `cuStreamWaitEvent` for each
    /// stream that was used.
    ///
    /// # Errors
    /// As [`Stream::submit`].
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let streams = [ctx.new_stream()?, ctx.new_stream()?];
    /// let owned = (streams, ctx.zeros::<u32>(4)?, ctx.pinned_zeros::<u32>(4)?);
    /// let work = ctx.submit(owned, |scope, ([first, second], device, host)| {
    ///     scope.on(first, |a| {
    ///         let mut device = device.lend(a);
    ///         a.fill(&mut device, 7)?;
    ///         scope.on(second, |b| b.read(&device.hand_over(a, b)?, host))
    ///     })
    /// })?;
    /// let (_streams, _device, host) = work.wait()?;
    /// assert_eq!(host[..], [7; 4]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn submit<A: Attached<'ctx>>(
        self,
        owned: A,
        enqueue: impl for<'scope> FnOnce(&Scope<'scope>, &'scope mut A) -> Result<()>,
    ) -> Result<Submitted<'ctx, A>, Box<NotSubmitted<'ctx, A>>> {
        Submitted::begin(self, owned, |owner, lent| {
            let scope = Scope::new(owner);
            let outcome = catch_unwind(AssertUnwindSafe(|| enqueue(&scope, lent)));
            (outcome, scope.into_streams())
        })
    }
}

impl<'ctx, A: Attached<'ctx>> Submitted<'ctx, A> {
    /// `enqueue` enqueues work on streams of the context, and says which, and does not unwind.
    fn begin<S: AsRef<[CUstream]>>(
        context: Context<'ctx>,
        owned: A,
        enqueue: impl FnOnce(Owner, &mut A) -> (thread::Result<Result<()>>, S),
    ) -> Result<Self, Box<NotSubmitted<'ctx, A>>> {
        let state = context.state();
        let completions = state.completions();
        let usable = state.api().unpoisoned().and_then(|()| state.not_lost());
        let mut completion = match usable.and_then(|()| completions.take(state)) {
            Ok(completion) => completion,
            Err(error) => {
                let state = State::Stopped(Held::new(owned, None));
                return Err(NotSubmitted::new(error, Self { context, state }));
            }
        };
        let mut held = Held::new(owned, completion.place.take());
        let owner = Owner::new();
        // SAFETY: once. The value stays until the work that `enqueue` begins is done, or for ever.
        // `enqueue` takes it for every lifetime, so what is lent beside it lives for ever, or as
        // long as the context, which waits for the work (C1, C11).
        let lent = unsafe { held.lend() };
        let (outcome, streams) = enqueue(owner, lent);
        let streams = streams.as_ref();
        // SAFETY: streams of the context, which the user of them has not dropped yet.
        let mut record = || unsafe { completion.record_all(state, completions, streams) };
        let recorded = match streams.is_empty() {
            true => Ok(()),
            false => record(),
        };
        let begun = match &recorded {
            Ok(()) if !streams.is_empty() => State::Running(Work {
                completion,
                owner,
                held,
            }),
            Ok(()) => {
                completions.give_back(completion);
                State::Stopped(held)
            }
            Err(error) => {
                let in_flight = state.in_flight();
                completions.give_back(completion);
                // The work may run, and nothing will tell when it is done: that has to be waited
                // for here.
                if streams.iter().all(|&stream| drains(state, stream)) {
                    log(owner.finish());
                    State::Stopped(held)
                } else {
                    mem::forget(in_flight);
                    State::Lost(error.clone())
                }
            }
        };
        let begun = Self {
            context,
            state: begun,
        };
        let error = match (outcome, recorded) {
            (Ok(Ok(())), Ok(())) => return Ok(begun),
            (Ok(Ok(())), Err(error)) | (Ok(Err(error)), Ok(())) => error,
            (Ok(Err(error)), Err(second)) => {
                log([(context.device(), second)]);
                error
            }
            (Err(panic), recorded) => {
                log(recorded.err().map(|error| (context.device(), error)));
                drop(begun);
                resume_unwind(panic)
            }
        };
        Err(NotSubmitted::new(error, begun))
    }
}

impl<'ctx, A> Submitted<'ctx, A> {
    /// The context of the work.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Whether the work is done: [`wait`](Self::wait) returns at once then, as it does after an
    /// error (`cuEventQuery`).
    ///
    /// # Errors
    /// What the driver returned.
    #[doc(alias = "cuEventQuery")]
    pub fn is_complete(&self) -> Result<bool> {
        match &self.state {
            State::Running(work) => match self.progress(work) {
                Progress::Running => Ok(false),
                Progress::Done => Ok(true),
                Progress::Failed(failed) => Err(failed.into()),
            },
            State::Stopped(_) | State::Ended => Ok(true),
            State::Lost(error) => Err(error.clone()),
        }
    }

    /// Waits for the work, or for as long as `limit`; says whether it is done: [`wait`](Self::wait)
    /// returns at once then. Asks at short intervals (`cuEventQuery`). It does not allocate.
    ///
    /// # Errors
    /// As [`is_complete`](Self::is_complete).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # use std::time::Duration;
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_device(0, |ctx| {
    /// # let (stream, buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
    /// # let hang = driver.machine().unwrap().pause();
    /// let work = stream.submit(buffer, |s, buffer| s.fill(&mut buffer.lend(s), 1))?;
    /// if work.wait_for(Duration::from_millis(5))? {
    ///     println!("{:?}", work.wait()?.to_vec()?);
    /// } else {
    ///     println!("late: it is left alone"); // the safe state
    ///     std::mem::forget(work);
    /// }
    /// # drop(hang);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventQuery")]
    pub fn wait_for(&self, limit: Duration) -> Result<bool> {
        ask_for(limit, || self.is_complete())
    }

    /// Waits for the work and gives back what it owned (`cuEventSynchronize`), however long that
    /// takes: with a limit it is [`wait_for`](Self::wait_for).
    ///
    /// # Errors
    /// [`FailedWork`] with what the work owned and what the driver returned, or
    /// [`Error::CallbackPanicked`] of a host function of this work.
    #[doc(alias = "cuEventSynchronize")]
    pub fn wait(mut self) -> Result<A, FailedWork<A>> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Running(work) => {
                let waited = work.completion.wait(self.context.state());
                self.end(work, waited)
            }
            ended => Self::ended(ended),
        }
    }

    fn progress(&self, work: &Work<A>) -> Progress {
        let (state, owner) = (self.context.state(), Some(work.owner));
        work.completion.progress_with(state, owner)
    }

    /// The end of work that was waited for, or that a question found to have ended.
    fn end(&self, work: Work<A>, waited: Result<(), Failed>) -> Result<A, FailedWork<A>> {
        let state = self.context.state();
        let error = match waited {
            Ok(()) => None,
            Err(Failed::Stopped(error)) => Some(error),
            Err(Failed::Unproven(error)) => {
                self.park(work);
                return Err(FailedWork { error, owned: None });
            }
        };
        let Work {
            mut completion,
            owner,
            held,
        } = work;
        // SAFETY: the work has stopped (C6).
        let (owned, place) = unsafe { held.into_inner() };
        completion.place = Some(place);
        state.completions().give_back(completion);
        let mut panicked = owner.finish().into_iter();
        let error = error.or_else(|| panicked.next().map(|(_, error)| error));
        log(panicked);
        // What its host functions have dropped.
        state.api().deferred().drop_now();
        match error {
            None => Ok(owned),
            Some(error) => Err(FailedWork {
                error,
                owned: Some(owned),
            }),
        }
    }

    /// What work gives back that is not running.
    fn ended(state: State<A>) -> Result<A, FailedWork<A>> {
        let error = match state {
            // SAFETY: there is no work (C6).
            State::Stopped(held) => return Ok(unsafe { held.into_inner() }.0),
            State::Lost(error) => error,
            State::Running(_) | State::Ended => Error::CopyTaken,
        };
        Err(FailedWork { error, owned: None })
    }

    /// Leaves the work, and what it owns, to the context.
    fn park(&self, work: Work<A>) {
        let Work {
            completion,
            owner,
            held,
        } = work;
        // SAFETY: work is made of what any thread may drop (`Family::In` is `Send`). It borrows
        // nothing but the context and what lives for ever (`Submitted::begin`), and the context
        // drops it before the last share of it is gone, or never.
        let left = unsafe { held.left() };
        let state = self.context.state();
        let parked = Parked {
            completion,
            owner: Some(owner),
            left,
        };
        state.completions().park(state, parked);
    }

    fn poll_with(&mut self, waker: &Waker) -> Poll<Result<A, FailedWork<A>>> {
        let state = self.context.state();
        // While the work may run, it stays in its place: the waker is a user's, and its `Clone` may
        // panic.
        let ended = match &mut self.state {
            State::Running(work) => {
                work.completion.sleeper().store(UserWaker::new(waker));
                match work.completion.progress_with(state, Some(work.owner)) {
                    Progress::Done => Ok(()),
                    Progress::Failed(failed) => Err(failed),
                    Progress::Running => match work.completion.arm(state, state.completions()) {
                        Ok(()) => return Poll::Pending,
                        // Without somebody who wakes, this would be the last poll.
                        Err(error) => Err(Failed::Unproven(error)),
                    },
                }
            }
            State::Stopped(_) | State::Lost(_) | State::Ended => Ok(()),
        };
        Poll::Ready(match mem::replace(&mut self.state, State::Ended) {
            State::Running(work) => self.end(work, ended),
            other => Self::ended(other),
        })
    }
}

fn log(panicked: impl IntoIterator<Item = (crate::device::Device, Error)>) {
    for (device, error) in panicked {
        device.api().log_teardown(device.ordinal(), error);
    }
}

impl<A> Future for Submitted<'_, A> {
    type Output = Result<A, FailedWork<A>>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_with(task.waker())
    }
}

/// Work in flight, as [`Submitted`] is a future, that a task can own whatever it is of.
///
/// # Errors
/// As [`Submitted::wait`]; [`Error::InsideHostFunction`], after which it may be polled again.
impl<F: Family> Future for Detached<Submitted<'_, F>> {
    type Output = Result<Detached<F>, FailedWork<Detached<F>>>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        if let Err(error) = inside::not_inside() {
            return Poll::Ready(Err(FailedWork { error, owned: None }));
        }
        let (work, owner) = self.get_mut().stored();
        let polled = Pin::new(work).poll(task);
        // SAFETY: what work owned is of its context.
        let again = |value| unsafe { Detached::from_stored(value, owner) };
        polled.map(|ended| match ended {
            Ok(owned) => Ok(again(owned)),
            Err(FailedWork { error, owned }) => Err(FailedWork {
                error,
                owned: owned.map(again),
            }),
        })
    }
}

// What it owns is not stored in it.
impl<A> Unpin for Submitted<'_, A> {}

impl<A> Drop for Submitted<'_, A> {
    fn drop(&mut self) {
        match mem::replace(&mut self.state, State::Ended) {
            State::Running(work) => match self.progress(&work) {
                Progress::Done => {
                    if let Err(failed) = self.end(work, Ok(())) {
                        log([(self.context.device(), failed.error)]);
                    }
                }
                Progress::Running => self.park(work),
                Progress::Failed(failed) => {
                    log([(self.context.device(), failed.into())]);
                    self.park(work);
                }
            },
            State::Stopped(held) => {
                // SAFETY: there is no work (C6).
                drop(unsafe { held.into_inner() }.0);
            }
            State::Lost(_) | State::Ended => {}
        }
    }
}

impl<A> fmt::Debug for Submitted<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Running(_) => "running",
            State::Stopped(_) => "stopped",
            State::Lost(_) => "lost",
            State::Ended => "ended",
        };
        let device = self.context.device().ordinal();
        write!(
            f,
            "Submitted({}, device {device}, {state})",
            std::any::type_name::<A>()
        )
    }
}

impl<F: Family> Family for Submitted<'_, F> {
    type In<'ctx> = Submitted<'ctx, F::In<'ctx>>;
}

impl<'ctx, A: Attached<'ctx>> Attached<'ctx> for Submitted<'ctx, A> {
    type Family = Submitted<'static, A::Family>;
}

impl<'ctx, A> NotSubmitted<'ctx, A> {
    #[cold]
    fn new(error: Error, begun: Submitted<'ctx, A>) -> Box<Self> {
        Box::new(Self { error, begun })
    }
}

impl<A> From<Box<NotSubmitted<'_, A>>> for Error {
    fn from(refused: Box<NotSubmitted<'_, A>>) -> Self {
        refused.error
    }
}

impl<A> fmt::Debug for NotSubmitted<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotSubmitted").field(&self.error).finish()
    }
}

impl<A> fmt::Display for NotSubmitted<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the work was not enqueued as a whole: {}", self.error)
    }
}

impl<A> std::error::Error for NotSubmitted<'_, A> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<A> From<FailedWork<A>> for Error {
    fn from(failed: FailedWork<A>) -> Self {
        failed.error
    }
}

impl<A> fmt::Debug for FailedWork<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FailedWork").field(&self.error).finish()
    }
}

impl<A> fmt::Display for FailedWork<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<A> std::error::Error for FailedWork<A> {}
