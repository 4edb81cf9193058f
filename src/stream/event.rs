//! Events: points in a stream's order that other streams and the host wait for.

#![allow(unsafe_code)] // creates, records, asks and destroys events

use crate::context::Context;
use crate::error::{CloseError, Error, Result};
use crate::ffi::{CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING, CUevent};
use crate::internal::calls;
use crate::internal::context_state::ContextState;
use crate::internal::current;
use crate::internal::patience::ask_for;
use crate::stream::ScopedStream;
use std::fmt;
use std::mem;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A point in the order of a stream: what [`ScopedStream::record`] marked last.
///
/// An event orders work and tells how far it has come. It does not hand memory over: what one
/// stream had in its order stays there, whoever waits for an event behind it. Memory changes
/// streams with [`OnStream::hand_over`](crate::OnStream::hand_over), which records and waits by
/// itself.
///
/// It owns no memory and borrows none, so it may be recorded in one scope and asked in another,
/// recorded again, and dropped while its record is pending (measured: the work and the waits go
/// on). Threads share it.
///
/// Dropping it destroys it (`cuEventDestroy`); an error goes to
/// [`Driver::take_teardown_errors`](crate::Driver::take_teardown_errors).
///
/// ```
/// # use scoped_cuda::{Driver, Error, scope, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
/// let (mut a, mut b) = (ctx.zeros::<u32>(2)?, ctx.zeros::<u32>(2)?);
/// let half_way = ctx.new_event()?;
/// assert_eq!(half_way.is_complete(), Err(Error::EventNotRecorded));
/// scope(|scope| {
///     scope.on(&first, |s| {
///         s.fill(&mut a.lend(s), 1)?;
///         s.record(&half_way)
///     })?;
///     scope.on(&second, |s| {
///         s.wait(&half_way)?;
///         s.fill(&mut b.lend(s), 2) // after the first fill
///     })
/// })?;
/// assert!(half_way.is_complete()?);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct Event<'ctx> {
    context: Context<'ctx>,
    raw: CUevent,
    /// The driver takes an event that was never recorded for one that has happened. This crate does
    /// not.
    is_recorded: AtomicBool,
}

static_assertions::assert_impl_all!(Event<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(Event<'static>: Clone);

impl<'ctx> Event<'ctx> {
    fn new(context: Context<'ctx>, flags: u32) -> Result<Self> {
        let create = || calls::event_create(context.api(), flags);
        Ok(Self {
            context,
            raw: current::bind(context.state(), create)?,
            is_recorded: AtomicBool::new(false),
        })
    }

    /// The event's context.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// The driver's handle, for calls to other libraries. It is live while the event is. What they
    /// record, this crate does not know of.
    #[must_use]
    pub fn as_raw(&self) -> CUevent {
        self.raw
    }

    /// Whether the work before the last record is done (`cuEventQuery`). Does not wait.
    ///
    /// # Errors
    /// [`Error::EventNotRecorded`], [`Error::ContextLost`], or what the driver returns: a fault of
    /// the work, for example.
    #[doc(alias = "cuEventQuery")]
    pub fn is_complete(&self) -> Result<bool> {
        let state = self.recorded()?;
        // SAFETY: the event is live, and so is its context, as was just asked.
        unsafe { calls::event_is_complete(state.api(), self.raw) }
            .map_err(|error| state.explained(error))
    }

    /// Keeps the calling thread until the work before the last record is done, or for as long as
    /// `limit`; says whether it is done. Asks at short intervals (`cuEventQuery`).
    ///
    /// # Errors
    /// As [`is_complete`](Self::is_complete).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # use std::time::Duration;
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_device(0, |ctx| {
    /// let (stream, event) = (ctx.new_stream()?, ctx.new_event()?);
    /// stream.scope(|s| {
    ///     s.record(&event)?;
    ///     while !event.wait_for(Duration::from_millis(1))? {
    ///         println!("the device takes its time");
    ///     }
    ///     Ok(())
    /// })?;
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventQuery")]
    pub fn wait_for(&self, limit: Duration) -> Result<bool> {
        ask_for(limit, || self.is_complete())
    }

    /// Keeps the calling thread until the work before the last record is done
    /// (`cuEventSynchronize`), however long that is: with a limit it is
    /// [`wait_for`](Self::wait_for).
    ///
    /// # Errors
    /// [`Error::EventNotRecorded`], [`Error::ContextLost`], or what the driver returns: a fault of
    /// the work, for example.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, event) = (ctx.new_stream()?, ctx.new_event()?);
    /// let mut buffer = ctx.zeros::<u32>(1000)?;
    /// stream.scope(|s| {
    ///     s.fill(&mut buffer.lend(s), 1)?;
    ///     s.record(&event)?;
    ///     event.synchronize()?; // the fill is done; the buffer stays lent all the same
    ///     assert!(event.is_complete()?);
    ///     Ok(())
    /// })?;
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        let state = self.recorded()?;
        // SAFETY: the event is live, and so is its context, as was just asked.
        unsafe { calls::event_synchronize(state.api(), self.raw) }
            .map_err(|error| state.explained(error))
    }

    /// Destroys the event and says whether that worked; after an error the event is handed back
    /// (`cuEventDestroy`).
    ///
    /// # Errors
    /// [`CloseError`] with the event and what the driver returned.
    #[doc(alias = "cuEventDestroy")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        let state = self.context.state();
        // SAFETY: live and owned; what waits for its record goes on waiting without it (measured).
        let destroy = || unsafe { calls::event_destroy(state.api(), self.raw) };
        match state.not_lost().and_then(|()| destroy()) {
            Ok(()) => {
                mem::forget(self);
                Ok(())
            }
            Err(error) => Err(CloseError::new(self, error)),
        }
    }

    /// The context, which is alive, of an event that was recorded.
    fn recorded(&self) -> Result<&'ctx ContextState> {
        // Pairs with `record`: who sees the flag, sees the driver's record.
        if !self.is_recorded.load(Ordering::Acquire) {
            return Err(Error::EventNotRecorded);
        }
        let state = self.context.state();
        state.not_lost()?;
        Ok(state)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: live and owned; what waits for its record goes on waiting without it (measured).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::event_destroy(driver, raw) });
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, raw) = (self.context.device().ordinal(), self.raw.as_ptr());
        write!(f, "Event(device {device}, {raw:p})")
    }
}

/// An [`Event`] that also takes the time, for [`elapsed_since`](Self::elapsed_since). It is an
/// event wherever one is asked for.
///
/// Recording the time costs the device a little, which is why an [`Event`] does not.
pub struct TimedEvent<'ctx>(Event<'ctx>);

static_assertions::assert_impl_all!(TimedEvent<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(TimedEvent<'static>: Clone);

impl<'ctx> TimedEvent<'ctx> {
    /// The time on the device from the last record of `earlier` to the last one of this event
    /// (`cuEventElapsedTime`), to about half a microsecond.
    ///
    /// # Errors
    /// - [`Error::EventNotRecorded`] when one of the two was never recorded.
    /// - [`Error::EventPending`] while the work before one of them is not done: wait for it first.
    /// - [`Error::EventOrder`] when `earlier` happened after this event.
    /// - [`Error::ContextLost`], or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, start, end) = (ctx.new_stream()?, ctx.new_timed_event()?, ctx.new_timed_event()?);
    /// let mut buffer = ctx.zeros::<u32>(1000)?;
    /// stream.scope(|s| {
    ///     s.record(&start)?;
    ///     s.fill(&mut buffer.lend(s), 1)?;
    ///     s.record(&end)
    /// })?;
    /// println!("the fill took {:?}", end.elapsed_since(&start)?);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventElapsedTime")]
    pub fn elapsed_since(&self, earlier: &TimedEvent<'ctx>) -> Result<Duration> {
        let state = self.recorded()?;
        earlier.recorded()?;
        // SAFETY: both are live, record times and are of one context (equal brands, C2), which is
        // alive, as was just asked.
        let elapsed = unsafe { calls::event_elapsed_time(state.api(), earlier.raw, self.raw) }?;
        let seconds = f64::from(elapsed.ok_or(Error::EventPending)?) / 1e3;
        Duration::try_from_secs_f64(seconds).map_err(|_| Error::EventOrder {
            by: Duration::try_from_secs_f64(-seconds).unwrap_or_default(),
        })
    }

    /// Destroys the event and says whether that worked; after an error the event is handed back
    /// (`cuEventDestroy`).
    ///
    /// # Errors
    /// [`CloseError`] with the event and what the driver returned.
    #[doc(alias = "cuEventDestroy")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        self.0.close().map_err(|failed| failed.map(Self))
    }
}

impl<'ctx> Deref for TimedEvent<'ctx> {
    type Target = Event<'ctx>;

    fn deref(&self) -> &Event<'ctx> {
        &self.0
    }
}

impl fmt::Debug for TimedEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timed")?;
        self.0.fmt(f)
    }
}

impl<'ctx> Context<'ctx> {
    /// A new event without timing (`cuEventCreate` with `CU_EVENT_DISABLE_TIMING`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn new_event(self) -> Result<Event<'ctx>> {
        Event::new(self, CU_EVENT_DISABLE_TIMING)
    }

    /// A new event that takes the time when it is recorded (`cuEventCreate`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuEventCreate")]
    pub fn new_timed_event(self) -> Result<TimedEvent<'ctx>> {
        Event::new(self, CU_EVENT_DEFAULT).map(TimedEvent)
    }
}

impl<'scope, 'ctx> ScopedStream<'_, 'scope, 'ctx> {
    /// Makes `event` mark this point of the stream: it is complete when everything that the stream
    /// was given before is done (`cuEventRecord`). An earlier record is forgotten; waits for it
    /// stay.
    ///
    /// # Errors
    /// What the driver returns.
    #[inline]
    #[doc(alias = "cuEventRecord")]
    pub fn record(self, event: &Event<'ctx>) -> Result<()> {
        let (driver, stream) = (self.context().api(), self.stream().as_raw());
        // SAFETY: both are live and of one context (equal brands, C2).
        self.explained(unsafe { calls::event_record(driver, event.raw, stream) })?;
        event.is_recorded.store(true, Ordering::Release);
        Ok(())
    }

    /// Makes what this stream is given next wait for the last record of `event`
    /// (`cuStreamWaitEvent`). The host does not wait.
    ///
    /// The event may be of another context, one that was there before the scope: it has to outlast
    /// the wait. The record that counts is the one made before this call. Memory is not handed over
    /// by it: [`OnStream::hand_over`](crate::OnStream::hand_over) does that.
    ///
    /// # Errors
    /// [`Error::EventNotRecorded`] (the driver would not wait, and say nothing),
    /// [`Error::DifferentDrivers`] when the event's context is of another
    /// [`Driver`](crate::Driver), [`Error::ContextLost`] when it was reset, or what the driver
    /// returns.
    #[inline]
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn wait<'any: 'scope>(self, event: &Event<'any>) -> Result<()> {
        if !event.is_recorded.load(Ordering::Acquire) {
            return Err(Error::EventNotRecorded);
        }
        let (driver, stream) = (self.context().api(), self.stream().as_raw());
        if event.context.api() != driver {
            return Err(Error::DifferentDrivers);
        }
        // That this stream's own context is alive, its scope has asked.
        if !ptr::eq(event.context.state(), self.context().state()) {
            event.context.state().not_lost()?;
        }
        // SAFETY: both are live handles of this driver. A wait may cross contexts (C2); the event's
        // own lives for `'scope`, which ends after the wait is over (C5). The event itself may be
        // destroyed before that (measured).
        self.explained(unsafe { calls::stream_wait_event(driver, stream, event.raw) })
    }
}
