//! Copies that outlive a scope: they own both sides.

#![allow(unsafe_code)] // copies between page-locked and device memory

use crate::context::Context;
use crate::error::{Error, Result};
use crate::internal::calls;
use crate::internal::completion::{Completion, Parked, Progress};
use crate::internal::current;
use crate::internal::held::Held;
use crate::internal::patience::ask_for;
use crate::internal::wait::{Failed, drains};
use crate::internal::wake::UserWaker;
use crate::memory::{Buffer, PinnedBuffer, same_len};
use crate::stream::Stream;
use bytemuck::Pod;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

/// A copy in flight between page-locked and device memory that outlives every scope. It owns both
/// sides, and gives them back when it is done: from [`wait`](Self::wait), or as a future.
///
/// A scope lends memory and waits before it returns. Where that is too strict, in a pipeline whose
/// parts hand their copies on, or in asynchronous code, the memory moves into the copy instead.
/// Nobody can touch it meanwhile, whatever happens to this value:
///
/// - **waited for or awaited**, it gives both pieces of memory back;
/// - **dropped**, it does not wait. The context keeps the memory and frees it when the copy is
///   done, at the latest when the context ends, which waits for that;
/// - **forgotten**, it leaks both pieces of memory: nobody frees or uses them while the copy runs,
///   or later.
///
/// The stream is not borrowed: more work may be enqueued on it, in scopes (which wait for the copy
/// too) and outside, and it may be closed; the copy goes on.
///
/// # As a future
/// It runs under any executor and needs no thread: when it is first polled a host function is
/// enqueued behind the copy that wakes the task, once. It carries the context's brand, so the
/// executor runs inside `with_device`. A wake-up also comes when this crate sees a fault anywhere
/// in the process. A fault that nobody sees wakes nobody: if code that does not use this crate may
/// cause one, poll from time to time.
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let stream = ctx.new_stream()?;
/// let upload = stream.upload_owned(ctx.pinned_from(&[1u32, 2, 3])?, ctx.zeros(3)?)?;
/// // ... the host does something else ...
/// let (mut host, device) = upload.wait()?;
/// host.fill(0);
/// let (host, _device) = stream.download_owned(host, device)?.wait()?;
/// assert_eq!(*host, [1, 2, 3]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[must_use = "dropped, a copy gives nothing back: `wait` for it, or `await` it"]
pub struct OwnedCopy<'ctx, T> {
    context: Context<'ctx>,
    state: State<'ctx, T>,
}

/// Both sides of a copy.
type Sides<'ctx, T> = (PinnedBuffer<'ctx, T>, Buffer<'ctx, T>);

enum State<'ctx, T> {
    Running(Completion, Sides<'ctx, T>),
    /// There were no bytes to copy.
    Empty(Sides<'ctx, T>),
    /// The copy may be running and nothing tells when it is done: the memory was leaked.
    Lost(Error),
    Ended,
}

static_assertions::assert_impl_all!(OwnedCopy<'static, f32>: Send, Sync, Unpin, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(OwnedCopy<'static, f32>: Clone);

/// A copy that did not begin: the error, and the memory that was to move into it.
///
/// `?` turns it into its [`Error`], in functions that return one, and drops the memory.
pub struct RefusedCopy<'ctx, T> {
    /// The host's side.
    pub host: PinnedBuffer<'ctx, T>,
    /// The device's side.
    pub device: Buffer<'ctx, T>,
    /// Why.
    pub error: Error,
}

static_assertions::assert_not_impl_any!(RefusedCopy<'static, f32>: Clone);

impl<'ctx> Stream<'ctx> {
    /// Copies `host` to `device`, which has as many elements, in the order of this stream; both
    /// move into the copy (`cuMemcpyHtoDAsync`, `cuEventRecord`).
    ///
    /// # Errors
    /// Both pieces of memory with [`Error::LengthMismatch`] or what the driver returned.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let (host, device) = (ctx.pinned_from(&[1u8, 2, 3])?, ctx.zeros(2)?);
    /// let refused = *stream.upload_owned(host, device).unwrap_err();
    /// assert!(matches!(refused.error, Error::LengthMismatch { .. }));
    /// let (_host, device) = stream.upload_owned(refused.host, ctx.zeros(3)?)?.wait()?;
    /// assert_eq!(device.to_vec()?, [1, 2, 3]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "cuEventRecord")]
    pub fn upload_owned<T: Pod>(
        &self,
        host: PinnedBuffer<'ctx, T>,
        device: Buffer<'ctx, T>,
    ) -> Result<OwnedCopy<'ctx, T>, Box<RefusedCopy<'ctx, T>>> {
        let (from, to) = (host.as_ptr().cast(), device.as_raw());
        let lengths = same_len(host.len(), device.len());
        let (state, stream, bytes) = (self.context().state(), self.as_raw(), host.size_bytes());
        OwnedCopy::start(self, (host, device), lengths, || {
            // SAFETY: both sides have `bytes` and are owned by the copy until it is done, or for
            // ever (C6); the device's are of the stream's context (equal brands, C2), at rest.
            current::bind(state, || unsafe {
                calls::memcpy_htod_async(state.api(), to, from, bytes, stream)
            })
        })
    }

    /// Copies `device` to `host`, which has as many elements, in the order of this stream; both
    /// move into the copy (`cuMemcpyDtoHAsync`, `cuEventRecord`).
    ///
    /// # Errors
    /// Both pieces of memory with [`Error::LengthMismatch`] or what the driver returned.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let download = stream.download_owned(ctx.pinned_zeros(3)?, ctx.upload(&[1u8, 2, 3])?)?;
    /// while !download.is_complete()? {
    ///     std::thread::yield_now(); // or something more useful
    /// }
    /// let (host, _device) = download.wait()?; // at once
    /// assert_eq!(*host, [1, 2, 3]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "cuEventRecord")]
    pub fn download_owned<T: Pod>(
        &self,
        mut host: PinnedBuffer<'ctx, T>,
        device: Buffer<'ctx, T>,
    ) -> Result<OwnedCopy<'ctx, T>, Box<RefusedCopy<'ctx, T>>> {
        let (from, to) = (device.as_raw(), host.as_mut_ptr().cast());
        let lengths = same_len(device.len(), host.len());
        let (state, stream, bytes) = (self.context().state(), self.as_raw(), host.size_bytes());
        OwnedCopy::start(self, (host, device), lengths, || {
            // SAFETY: as in `upload_owned`; any bits are a valid `T` (`Pod`).
            current::bind(state, || unsafe {
                calls::memcpy_dtoh_async(state.api(), to, from, bytes, stream)
            })
        })
    }
}

impl<'ctx, T: Pod> OwnedCopy<'ctx, T> {
    /// `copy` enqueues a copy between the two sides, and nothing else, on the stream.
    fn start(
        stream: &Stream<'ctx>,
        sides: Sides<'ctx, T>,
        lengths: Result<()>,
        copy: impl FnOnce() -> Result<()>,
    ) -> Result<Self, Box<RefusedCopy<'ctx, T>>> {
        let context = stream.context();
        let state = context.state();
        let completions = state.completions();
        let refused = |(host, device): Sides<'ctx, T>, error| {
            Err(Box::new(RefusedCopy {
                host,
                device,
                error,
            }))
        };
        if let Err(error) = lengths.and_then(|()| state.not_lost()) {
            return refused(sides, error);
        }
        if sides.0.size_bytes() == 0 {
            let state = State::Empty(sides);
            return Ok(Self { context, state });
        }
        let completion = match completions.take(state) {
            Ok(completion) => completion,
            Err(error) => return refused(sides, error),
        };
        // SAFETY: the stream is live and of the context.
        let begun = copy().and_then(|()| unsafe { completion.record(state, stream.as_raw()) });
        let Err(error) = begun else {
            let state = State::Running(completion, sides);
            return Ok(Self { context, state });
        };
        let in_flight = state.in_flight();
        completions.give_back(completion);
        // The copy may run, and nothing will tell when it is done: that has to be waited for here.
        if drains(state, stream.as_raw()) {
            return refused(sides, error);
        }
        mem::forget((sides, in_flight));
        let state = State::Lost(error);
        Ok(Self { context, state })
    }
}

impl<'ctx, T> OwnedCopy<'ctx, T> {
    /// The context of both sides.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Whether the copy is done: [`wait`](Self::wait) returns at once then, as it does after an
    /// error (`cuEventQuery`).
    ///
    /// # Errors
    /// What the driver returned.
    #[doc(alias = "cuEventQuery")]
    pub fn is_complete(&self) -> Result<bool> {
        match &self.state {
            State::Running(completion, _) => match completion.progress(self.context.state()) {
                Progress::Running => Ok(false),
                Progress::Done => Ok(true),
                Progress::Failed(Failed::Stopped(error) | Failed::Unproven(error)) => Err(error),
            },
            State::Empty(_) | State::Ended => Ok(true),
            State::Lost(error) => Err(error.clone()),
        }
    }

    /// Waits for the copy, or for as long as `limit`; says whether it is done:
    /// [`wait`](Self::wait) returns at once then. Asks at short intervals (`cuEventQuery`).
    ///
    /// # Errors
    /// As [`is_complete`](Self::is_complete).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # use std::time::Duration;
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (host, device) = (ctx.pinned_from(&[1u32, 2, 3])?, ctx.zeros(3)?);
    /// let upload = ctx.new_stream()?.upload_owned(host, device)?;
    /// if upload.wait_for(Duration::from_secs(1))? {
    ///     let (_host, device) = upload.wait()?;
    ///     assert_eq!(device.to_vec()?, [1, 2, 3]);
    /// }
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventQuery")]
    pub fn wait_for(&self, limit: Duration) -> Result<bool> {
        ask_for(limit, || self.is_complete())
    }

    /// Waits for the copy and gives both pieces of memory back (`cuEventSynchronize`), however long
    /// that takes: with a limit it is [`wait_for`](Self::wait_for).
    ///
    /// # Errors
    /// What the driver returned; the memory is dropped then. If that does not prove that the copy
    /// has stopped, the memory is kept until something does, or leaked.
    #[doc(alias = "cuEventSynchronize")]
    pub fn wait(mut self) -> Result<(PinnedBuffer<'ctx, T>, Buffer<'ctx, T>)> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Running(completion, sides) => {
                let waited = completion.wait(self.context.state());
                self.end(completion, sides, waited)
            }
            State::Empty(sides) => Ok(sides),
            State::Lost(error) => Err(error),
            State::Ended => Err(Error::CopyTaken),
        }
    }

    /// The end of a copy that was waited for, or that a question found to have ended.
    fn end(
        &self,
        completion: Completion,
        sides: Sides<'ctx, T>,
        waited: Result<(), Failed>,
    ) -> Result<Sides<'ctx, T>> {
        let completions = self.context.state().completions();
        match waited {
            Ok(()) => {
                completions.give_back(completion);
                Ok(sides)
            }
            Err(Failed::Stopped(error)) => {
                completions.give_back(completion);
                Err(error)
            }
            Err(Failed::Unproven(error)) => {
                self.park(completion, sides);
                Err(error)
            }
        }
    }

    fn park(&self, completion: Completion, sides: Sides<'ctx, T>) {
        let held = Held::new(sides, None);
        // SAFETY: any thread may free both sides (C6). They borrow the context, which drops them
        // before its last share is gone, or never.
        let left = unsafe { held.left() };
        let state = self.context.state();
        let parked = Parked {
            completion,
            owner: None,
            left,
        };
        state.completions().park(state, parked);
    }

    fn poll_with(&mut self, waker: &Waker) -> Poll<Result<Sides<'ctx, T>>> {
        let state = self.context.state();
        // While the copy may run, both sides stay in their place: the waker is a user's, and its
        // `Clone` may panic.
        let ended = match &mut self.state {
            State::Running(completion, _) => {
                completion.sleeper().store(UserWaker::new(waker));
                match completion.progress(state) {
                    Progress::Done => Ok(()),
                    Progress::Failed(failed) => Err(failed),
                    Progress::Running => match completion.arm(state, state.completions()) {
                        Ok(()) => return Poll::Pending,
                        // Without somebody who wakes, this would be the last poll.
                        Err(error) => Err(Failed::Unproven(error)),
                    },
                }
            }
            State::Empty(_) | State::Lost(_) | State::Ended => Ok(()),
        };
        Poll::Ready(match mem::replace(&mut self.state, State::Ended) {
            State::Running(completion, sides) => self.end(completion, sides, ended),
            State::Empty(sides) => Ok(sides),
            State::Lost(error) => Err(error),
            State::Ended => Err(Error::CopyTaken),
        })
    }
}

impl<'ctx, T> Future for OwnedCopy<'ctx, T> {
    type Output = Result<(PinnedBuffer<'ctx, T>, Buffer<'ctx, T>)>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_with(task.waker())
    }
}

// Elements are not stored in it.
impl<T> Unpin for OwnedCopy<'_, T> {}

impl<T> Drop for OwnedCopy<'_, T> {
    fn drop(&mut self) {
        if let State::Running(completion, sides) = mem::replace(&mut self.state, State::Ended) {
            self.park(completion, sides);
        }
    }
}

impl<T> fmt::Debug for OwnedCopy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = f.debug_tuple("OwnedCopy");
        match &self.state {
            State::Running(_, (host, device)) | State::Empty((host, device)) => {
                name.field(host).field(device)
            }
            State::Lost(error) => name.field(error),
            State::Ended => &mut name,
        };
        name.finish()
    }
}

impl<'ctx, T> From<Box<RefusedCopy<'ctx, T>>> for Error {
    fn from(refused: Box<RefusedCopy<'ctx, T>>) -> Self {
        refused.error
    }
}

impl<T> fmt::Debug for RefusedCopy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedCopy")
            .field("host", &self.host)
            .field("device", &self.device)
            .field("error", &self.error)
            .finish()
    }
}

impl<T> fmt::Display for RefusedCopy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the copy did not begin: {}", self.error)
    }
}

impl<T> std::error::Error for RefusedCopy<'_, T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
