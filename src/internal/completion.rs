//! Telling when work is done that outlives every scope, and keeping what it owns until then.

#![allow(unsafe_code)] // events and streams of its own; drops what was left

use crate::error::{Error, Result};
use crate::ffi::{CU_EVENT_DISABLE_TIMING, CUevent, CUresult, CUstream};
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use crate::internal::current;
use crate::internal::few::Few;
use crate::internal::held::{Left, Place};
use crate::internal::host_function::{self, Owner};
use crate::internal::in_flight::InFlight;
use crate::internal::wait::{Failed, may_only_be_of, proves_stopped, wait_event, work_failed};
use crate::internal::wake::Sleeper;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event behind work that owns what it uses, and whom to wake when it is complete.
///
/// The waking is a host function on a stream of its own that waits for the event: on the copy's
/// stream it would hold up later work, and a wake-up would come after everything that the stream
/// had been given in the meantime.
pub(crate) struct Completion {
    event: CUevent,
    sleeper: Arc<Sleeper>,
    /// Made when needed: for waking, and for waiting for several streams.
    own: Option<CUstream>,
    is_armed: bool,
    /// Since before the copy was enqueued, until it is known to be done.
    in_flight: Option<InFlight>,
    /// Where the last work had what it owned.
    pub(crate) place: Option<Place>,
}

/// What a question about a copy came to.
pub(crate) enum Progress {
    Running,
    Done,
    Failed(Failed),
}

/// The events and streams of a context for its [`Completion`]s: made when needed, used again,
/// destroyed with the context. A forgotten copy keeps its own until then.
#[derive(Default)]
pub(crate) struct Completions {
    inner: Mutex<Inner>,
    /// Whether work is parked.
    has_parked: AtomicBool,
}

#[derive(Default)]
struct Inner {
    idle: Vec<Completion>,
    parked: Vec<Parked>,
    // Everything that was made.
    events: Vec<(CUevent, Arc<Sleeper>)>,
    streams: Vec<CUstream>,
    /// In whose name the host functions are enqueued.
    owner: Option<Owner>,
}

/// Work that nobody waits for any more, with what it owns.
pub(crate) struct Parked {
    pub(crate) completion: Completion,
    /// In whose name it has enqueued host functions.
    pub(crate) owner: Option<Owner>,
    pub(crate) left: Left,
}

impl Completion {
    /// Records the end of what `stream` has been given so far.
    ///
    /// # Safety
    /// `stream` is a live stream of the context.
    pub(crate) unsafe fn record(&self, context: &ContextHandle, stream: CUstream) -> Result<()> {
        // SAFETY: the event lives until `Completions::close`; both are of one context (C2).
        unsafe { calls::event_record(context.api(), self.event, stream) }
    }

    /// Where the copy is (`cuEventQuery`).
    pub(crate) fn progress(&self, context: &ContextHandle) -> Progress {
        if let Err(error) = context.api().unpoisoned() {
            return Progress::Failed(match may_only_be_of(context) {
                true => Failed::Stopped(error),
                false => Failed::Unproven(error),
            });
        }
        // SAFETY: the event lives until `Completions::close`.
        match unsafe { calls::event_query(context.api(), self.event) } {
            CUresult::SUCCESS => Progress::Done,
            CUresult::NOT_READY => Progress::Running,
            // Other code captures a stream, and the question was not answered.
            code if code.refuses_to_wait() => Progress::Running,
            code => {
                let error = work_failed(context, code, "cuEventQuery");
                Progress::Failed(if proves_stopped(context, code) {
                    Failed::Stopped(error)
                } else {
                    Failed::Unproven(error)
                })
            }
        }
    }

    /// [`progress`](Self::progress) of work whose host functions `owner` has enqueued. After a
    /// fault one may be running still, and with it what it has borrowed from nobody, but may wait
    /// for.
    pub(crate) fn progress_with(&self, context: &ContextHandle, owner: Option<Owner>) -> Progress {
        match self.progress(context) {
            Progress::Running => Progress::Running,
            _ if owner.is_some_and(Owner::is_running) => Progress::Running,
            ended => ended,
        }
    }

    /// Waits for the copy (`cuEventSynchronize`).
    pub(crate) fn wait(&self, context: &ContextHandle) -> Result<(), Failed> {
        wait_event(context, self.event)
    }

    pub(crate) fn sleeper(&self) -> &Sleeper {
        &self.sleeper
    }

    /// [`record`](Self::record) of what several streams have been given so far: a stream of its own
    /// waits for them (`cuEventRecord`, `cuStreamWaitEvent`).
    ///
    /// # Safety
    /// `streams` are live streams of the context.
    pub(crate) unsafe fn record_all(
        &mut self,
        context: &ContextHandle,
        completions: &Completions,
        streams: &Few<CUstream>,
    ) -> Result<()> {
        let mut all = streams.iter();
        if let (Some(&stream), None) = (all.next(), all.next()) {
            // SAFETY: the caller's promise.
            return unsafe { self.record(context, stream) };
        }
        let joined = self.stream_of_its_own(context, completions)?;
        for &stream in streams.iter() {
            // SAFETY: the caller's promise.
            unsafe { self.record(context, stream) }?;
            // SAFETY: both live until `Completions::close`.
            unsafe { calls::stream_wait_event(context.api(), joined, self.event) }?;
        }
        // SAFETY: it lives until `Completions::close`.
        unsafe { self.record(context, joined) }
    }

    fn stream_of_its_own(
        &mut self,
        context: &ContextHandle,
        completions: &Completions,
    ) -> Result<CUstream> {
        if let Some(stream) = self.own {
            return Ok(stream);
        }
        let stream = current::bind(context, || calls::stream_create(context.api()))?;
        completions.lock().streams.push(stream);
        Ok(*self.own.insert(stream))
    }

    /// Sees to it that the sleeper is woken when the copy is done (`cuStreamWaitEvent`,
    /// `cuLaunchHostFunc`).
    pub(crate) fn arm(&mut self, context: &ContextHandle, completions: &Completions) -> Result<()> {
        if self.is_armed {
            return Ok(());
        }
        let driver = context.api();
        let stream = self.stream_of_its_own(context, completions)?;
        // SAFETY: both live until `Completions::close`.
        unsafe { calls::stream_wait_event(driver, stream, self.event) }?;
        let (sleeper, round) = (Arc::clone(&self.sleeper), self.sleeper.round());
        let wake = Box::new(move || sleeper.wake_in(round));
        let owner = completions.owner();
        // SAFETY: as above.
        unsafe { host_function::enqueue(context.device(), stream, owner, wake) }?;
        self.is_armed = true;
        Ok(())
    }
}

impl Parked {
    fn progress(&self, context: &ContextHandle) -> Progress {
        self.completion.progress_with(context, self.owner)
    }
}

impl Completions {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Neither driver calls nor code of a user while it is locked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self) -> Owner {
        *self.lock().owner.get_or_insert_with(Owner::new)
    }

    /// A completion that nothing was recorded in yet (`cuEventCreate` if none is idle).
    pub(crate) fn take(&self, context: &ContextHandle) -> Result<Completion> {
        self.reclaim(context);
        let in_flight = Some(context.in_flight());
        if let Some(idle) = self.lock().idle.pop() {
            return Ok(Completion { in_flight, ..idle });
        }
        let driver = context.api();
        let event = current::bind(context, || {
            calls::event_create(driver, CU_EVENT_DISABLE_TIMING)
        })?;
        let sleeper = Arc::new(Sleeper::default());
        driver.sleepers().add(Arc::clone(&sleeper));
        self.lock().events.push((event, Arc::clone(&sleeper)));
        Ok(Completion {
            event,
            sleeper,
            own: None,
            is_armed: false,
            in_flight,
            place: None,
        })
    }

    /// Takes back the completion of a copy that is done, or never began.
    pub(crate) fn give_back(&self, mut completion: Completion) {
        completion.sleeper.next_round();
        completion.is_armed = false;
        completion.in_flight = None;
        self.lock().idle.push(completion);
    }

    /// Keeps what work owns that may be running, until it is done.
    pub(crate) fn park(&self, context: &ContextHandle, parked: Parked) {
        let sleeper = Arc::clone(&parked.completion.sleeper);
        let mut inner = self.lock();
        inner.parked.push(parked);
        self.has_parked.store(true, Ordering::Release);
        drop(inner);
        sleeper.next_round();
        self.reclaim(context);
    }

    /// Drops what parked work owned that is done.
    #[inline]
    pub(crate) fn reclaim(&self, context: &ContextHandle) {
        if self.has_parked.load(Ordering::Acquire) {
            self.reclaim_parked(context);
        }
    }

    fn reclaim_parked(&self, context: &ContextHandle) {
        let (mut done, mut running) = (Vec::new(), Vec::new());
        let parked = mem::take(&mut self.lock().parked);
        for parked in parked {
            match parked.progress(context) {
                Progress::Done => done.push(parked),
                Progress::Running => running.push(parked),
                // The end of the work, if it was stopped, is for `finish` to report.
                Progress::Failed(failed) => {
                    running.push(parked);
                    if let Failed::Unproven(error) = failed {
                        log(context, error);
                    }
                }
            }
        }
        let mut inner = self.lock();
        inner.parked.append(&mut running);
        self.has_parked
            .store(!inner.parked.is_empty(), Ordering::Release);
        drop(inner);
        for parked in done {
            self.release(context, parked);
        }
    }

    /// Waits for parked work and drops what it owned. Destructors of the user's run, and may park
    /// more.
    pub(crate) fn finish(&self, context: &ContextHandle) {
        loop {
            let mut inner = self.lock();
            let parked = mem::take(&mut inner.parked);
            self.has_parked.store(false, Ordering::Release);
            drop(inner);
            if parked.is_empty() {
                return;
            }
            for parked in parked {
                match parked.completion.wait(context) {
                    Ok(()) => self.release(context, parked),
                    Err(Failed::Stopped(error)) => {
                        log(context, error);
                        self.release(context, parked);
                    }
                    // Whatever the work still does, it does it to memory that is nobody's.
                    Err(Failed::Unproven(error)) => {
                        mem::forget(parked.completion.in_flight);
                        log(context, error);
                    }
                }
            }
        }
    }

    /// Drops what work owned that has stopped.
    fn release(&self, context: &ContextHandle, parked: Parked) {
        let Parked {
            completion,
            owner,
            left,
        } = parked;
        self.give_back(completion);
        for (device, error) in owner.map_or_else(Vec::new, Owner::finish) {
            device.api().log_teardown(device.ordinal(), error);
        }
        // SAFETY: the work has stopped, and the context, which is all that the value can borrow,
        // has a share at least until the caller returns (C1, C6).
        unsafe { left.release() };
        context.api().deferred().drop_now();
    }

    /// Destroys everything. No [`Completion`] is used afterwards; that of forgotten work may be
    /// pending still.
    pub(crate) fn close(&self, context: &ContextHandle) {
        // Nothing is parked: `finish` was there. What would be is leaked.
        let inner = mem::take(&mut *self.lock());
        if let Some(owner) = inner.owner {
            owner.abandon();
        }
        for stream in inner.streams {
            // SAFETY: created in `arm` and destroyed once; what is pending in it goes on
            // (measured), and the host function in it finds nothing to call.
            context.tear_down(|driver| unsafe { calls::stream_destroy(driver, stream) });
        }
        for (event, sleeper) in inner.events {
            context.api().sleepers().remove(&sleeper);
            // SAFETY: created in `take` and destroyed once; what is recorded in it or waits for it
            // goes on (measured).
            context.tear_down(|driver| unsafe { calls::event_destroy(driver, event) });
        }
    }
}

fn log(context: &ContextHandle, error: Error) {
    context.api().log_teardown(context.ordinal(), error);
}
