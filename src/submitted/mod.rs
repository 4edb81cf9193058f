//! Work of any kind that outlives its scope: it owns what it uses.

#![allow(unsafe_code)] // takes out what it owned

mod refused;
mod submit;

pub use refused::{FailedWork, NotSubmitted};

use crate::context::Context;
use crate::detached::{Attached, Detached, Family};
use crate::error::{Error, Result};
use crate::internal::completion::{Completion, Parked, Progress};
use crate::internal::held::Held;
use crate::internal::host_function::Owner;
use crate::internal::inside;
use crate::internal::patience::ask_for;
use crate::internal::wait::Failed;
use crate::internal::wake::UserWaker;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Work in flight that owns what it uses, and gives it back when it is done. Made by
/// [`Stream::submit`](crate::Stream::submit) and [`Context::submit`].
///
/// Nobody can touch what it owns meanwhile, whatever happens to this value:
///
/// - **waited for or awaited**, it gives back what it owns;
/// - **dropped**, it does not wait. The context keeps what it owns until the work is done, and
///   drops it then: when more work is submitted or the context is entered again, at the latest when
///   its last owner goes, who waits for that;
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
