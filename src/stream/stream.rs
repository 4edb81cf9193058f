//! Streams: queues of work, run in order.

#![allow(unsafe_code)] // creates and destroys streams and their events

use crate::context::Context;
use crate::error::{CloseError, Error, Result};
use crate::ffi::{CU_EVENT_DISABLE_TIMING, CUevent, CUstream};
use crate::internal::calls;
use crate::internal::current;
use crate::internal::loans::HostLoans;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;

/// A queue of work on a device, run in order, asynchronously to the host and to other streams.
///
/// Always non-blocking: it does not synchronise with the legacy NULL stream, which this crate never
/// uses. Work is enqueued inside [`scope`](Self::scope) (one stream) or [`scope`](crate::scope())
/// (several), which wait for it before they return; outside, a stream has nothing to do but copies
/// that own their memory ([`OwnedCopy`](crate::OwnedCopy)).
///
/// Dropping a stream destroys it (`cuStreamDestroy`); an error goes to
/// [`Driver::take_teardown_errors`](crate::Driver::take_teardown_errors).
pub struct Stream<'ctx> {
    context: Context<'ctx>,
    raw: CUstream,
    name: Option<Box<str>>,
    /// Recorded on this stream whenever another one has to wait for it. One is enough: a wait
    /// refers to the record that was made before it, and recording again does not disturb it.
    handed_over: CUevent,
    /// Whether the scopes that use it have lent it host memory.
    loans: HostLoans,
}

static_assertions::assert_impl_all!(Stream<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(Stream<'static>: Clone);

impl<'ctx> Stream<'ctx> {
    pub(crate) fn new(context: Context<'ctx>) -> Result<Self> {
        let driver = context.api();
        let raw = current::bind(context.state(), || calls::stream_create(driver))?;
        Self::with_event(context, raw, None)
    }

    fn with_options(context: Context<'ctx>, options: StreamOptions<'_>) -> Result<Self> {
        let StreamOptions { priority, name } = options;
        let raw = match priority {
            0 => current::bind(context.state(), || calls::stream_create(context.api()))?,
            _ => Self::create_with_priority(context, priority)?,
        };
        Self::with_event(context, raw, name.map(Box::from))
    }

    fn create_with_priority(context: Context<'ctx>, asked: i32) -> Result<CUstream> {
        let there_are = context.stream_priorities()?;
        if !there_are.contains(&asked) {
            return Err(Error::BadPriority {
                asked,
                least: *there_are.end(),
                greatest: *there_are.start(),
            });
        }
        let create = || calls::stream_create_with_priority(context.api(), asked);
        current::bind(context.state(), create)
    }

    /// `raw` is live and known to nobody else.
    fn with_event(context: Context<'ctx>, raw: CUstream, name: Option<Box<str>>) -> Result<Self> {
        let create = || calls::event_create(context.api(), CU_EVENT_DISABLE_TIMING);
        match current::bind(context.state(), create) {
            Ok(handed_over) => Ok(Self {
                context,
                raw,
                name,
                handed_over,
                loans: HostLoans::new(),
            }),
            Err(error) => {
                // SAFETY: just created, and known to nobody else.
                context
                    .state()
                    .tear_down(|driver| unsafe { calls::stream_destroy(driver, raw) });
                Err(error)
            }
        }
    }

    /// The stream's context.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// The driver's handle, for calls to other libraries. It is live while the stream is.
    #[must_use]
    pub fn as_raw(&self) -> CUstream {
        self.raw
    }

    /// The name that it was [given](StreamOptions::name), for messages.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether everything that the stream was given is done (`cuStreamQuery`). Does not wait.
    ///
    /// The answer about a stream that other threads use may be out of date when it arrives. Memory
    /// stays lent whatever it is.
    ///
    /// # Errors
    /// [`Error::ContextLost`], or what the driver returns: a fault of the work, for example.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// assert!(stream.is_idle()?); // nothing was enqueued
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuStreamQuery")]
    pub fn is_idle(&self) -> Result<bool> {
        let state = self.context.state();
        state.not_lost()?;
        // SAFETY: the stream is live, and so is its context, as was just asked.
        unsafe { calls::stream_is_idle(state.api(), self.raw) }
    }

    /// Destroys the stream and says whether that worked; after an error the stream is handed back
    /// (`cuStreamDestroy`).
    ///
    /// # Errors
    /// [`CloseError`] with the stream and what the driver returned.
    #[allow(clippy::result_large_err)] // the stream itself comes back
    #[doc(alias = "cuStreamDestroy")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        let driver = self.context.api();
        // SAFETY: live and owned. No pending work borrows anything outside scopes (C5); a copy that
        // owns its memory goes on (measured).
        let destroy = || unsafe { calls::stream_destroy(driver, self.raw) };
        match self.context.state().not_lost().and_then(|()| destroy()) {
            Ok(()) => {
                self.destroy_event();
                // What is left to drop is the name.
                ManuallyDrop::new(self).name = None;
                Ok(())
            }
            Err(error) => Err(CloseError::new(self, error)),
        }
    }

    pub(crate) fn loans(&self) -> &HostLoans {
        &self.loans
    }

    pub(crate) fn handed_over(&self) -> CUevent {
        self.handed_over
    }

    fn destroy_event(&self) {
        let event = self.handed_over;
        // SAFETY: live and owned; a wait that refers to it goes on without it (measured).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::event_destroy(driver, event) });
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: live and owned. No pending work borrows anything outside scopes (C5); a copy that
        // owns its memory goes on (measured).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::stream_destroy(driver, raw) });
        self.destroy_event();
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, raw) = (self.context.device().ordinal(), self.raw.as_ptr());
        match self.name() {
            Some(name) => write!(f, "Stream({name:?}, device {device}, {raw:p})"),
            None => write!(f, "Stream(device {device}, {raw:p})"),
        }
    }
}

/// What a stream is made with. The default is what
/// [`Context::new_stream`](crate::Context::new_stream) makes.
///
/// ```
/// # use scoped_cuda::{Driver, Error, StreamOptions, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let most_urgent = *ctx.stream_priorities()?.start();
/// let stream = ctx.new_stream_with(StreamOptions::default().priority(most_urgent).name("results"))?;
/// assert!(format!("{stream:?}").contains("results"));
///
/// let error = ctx.new_stream_with(StreamOptions::default().priority(1000)).unwrap_err();
/// assert!(matches!(error, Error::BadPriority { asked: 1000, .. }));
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub struct StreamOptions<'name> {
    /// One of [`Context::stream_priorities`]: the smaller the number, the more urgent. 0 is the
    /// driver's default.
    pub priority: i32,
    /// A name for messages: the stream's [`Debug`](fmt::Debug) has it.
    pub name: Option<&'name str>,
}

impl<'name> StreamOptions<'name> {
    /// Sets [`priority`](Self#structfield.priority).
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets [`name`](Self#structfield.name).
    #[must_use]
    pub const fn name(mut self, name: &'name str) -> Self {
        self.name = Some(name);
        self
    }
}

impl<'ctx> Context<'ctx> {
    /// A new stream with a priority, a name, or both (`cuStreamCreateWithPriority`, non-blocking).
    ///
    /// When several streams have work, the device takes the work of the more urgent stream first.
    /// Work that runs is not interrupted.
    ///
    /// # Errors
    /// [`Error::BadPriority`] (the driver would take the nearest one, and say nothing), or what the
    /// driver returns.
    pub fn new_stream_with(self, options: StreamOptions<'_>) -> Result<Stream<'ctx>> {
        Stream::with_options(self, options)
    }

    /// The priorities that streams of this device can have, the most urgent one first: `-5..=0`,
    /// say (`cuCtxGetStreamPriorityRange`). On a device without priorities it is `0..=0`.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxGetStreamPriorityRange")]
    pub fn stream_priorities(self) -> Result<RangeInclusive<i32>> {
        let ask = || calls::ctx_stream_priority_range(self.api());
        let (least, greatest) = current::bind(self.state(), ask)?;
        Ok(greatest..=least)
    }
}

impl<'ctx> Context<'ctx> {
    /// A new stream (`cuStreamCreate`, non-blocking). With a priority or a name:
    /// [`new_stream_with`](Self::new_stream_with).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let mut buffer = ctx.zeros::<u32>(4)?;
    /// stream.scope(|s| s.fill(&mut buffer.lend(s), 7))?;
    /// assert_eq!(buffer.to_vec()?, [7; 4]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn new_stream(self) -> Result<Stream<'ctx>> {
        Stream::new(self)
    }
}
