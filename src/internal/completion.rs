//! Telling when a copy that outlives every scope is done, and keeping its memory until then.

#![allow(unsafe_code)] // events and streams of its own; frees memory

use crate::error::{Error, Result};
use crate::ffi::{CU_EVENT_DISABLE_TIMING, CUdeviceptr, CUevent, CUresult, CUstream};
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use crate::internal::current;
use crate::internal::host_function::{self, Owner};
use crate::internal::in_flight::InFlight;
use crate::internal::loans::DeviceVisible;
use crate::internal::wait::{Failed, may_only_be_of, proves_stopped, wait_event, work_failed};
use crate::internal::wake::Sleeper;
use std::ffi::c_void;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event behind a copy, and whom to wake when it is complete.
///
/// The waking is a host function on a stream of its own that waits for the event: on the copy's
/// stream it would hold up later work, and a wake-up would come after everything that the stream
/// had been given in the meantime.
pub(crate) struct Completion {
    event: CUevent,
    sleeper: Arc<Sleeper>,
    waking: Option<CUstream>,
    is_armed: bool,
    /// Since before the copy was enqueued, until it is known to be done.
    in_flight: Option<InFlight>,
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

/// The memory of a copy that nobody waits for any more, until the copy is done.
struct Parked {
    completion: Completion,
    memory: Orphan,
}

/// Both sides of a copy, without the buffers that owned them.
pub(crate) struct Orphan {
    pub(crate) host: *mut c_void,
    pub(crate) visible: Option<DeviceVisible>,
    pub(crate) device: CUdeviceptr,
    /// The size of `device` in bytes.
    pub(crate) bytes: usize,
    /// The stream in whose order `device` is freed.
    pub(crate) free_on: CUstream,
}

// SAFETY: owned memory, which any thread may free (C6).
unsafe impl Send for Orphan {}

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

    /// Waits for the copy (`cuEventSynchronize`).
    pub(crate) fn wait(&self, context: &ContextHandle) -> Result<(), Failed> {
        wait_event(context, self.event)
    }

    pub(crate) fn sleeper(&self) -> &Sleeper {
        &self.sleeper
    }

    /// Sees to it that the sleeper is woken when the copy is done (`cuStreamWaitEvent`,
    /// `cuLaunchHostFunc`).
    pub(crate) fn arm(&mut self, context: &ContextHandle, completions: &Completions) -> Result<()> {
        if self.is_armed {
            return Ok(());
        }
        let driver = context.api();
        let stream = match self.waking {
            Some(stream) => stream,
            None => {
                let stream = current::bind(context, || calls::stream_create(driver))?;
                completions.lock().streams.push(stream);
                *self.waking.insert(stream)
            }
        };
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
            waking: None,
            is_armed: false,
            in_flight,
        })
    }

    /// Takes back the completion of a copy that is done, or never began.
    pub(crate) fn give_back(&self, mut completion: Completion) {
        completion.sleeper.next_round();
        completion.is_armed = false;
        completion.in_flight = None;
        self.lock().idle.push(completion);
    }

    /// Keeps the memory of a copy that may be running until it is done.
    pub(crate) fn park(&self, context: &ContextHandle, completion: Completion, memory: Orphan) {
        let sleeper = Arc::clone(&completion.sleeper);
        self.lock().parked.push(Parked { completion, memory });
        sleeper.next_round();
        self.reclaim(context);
    }

    /// Frees the parked memory of copies that are done.
    fn reclaim(&self, context: &ContextHandle) {
        let parked = mem::take(&mut self.lock().parked);
        for Parked { completion, memory } in parked {
            let progress = completion.progress(context);
            if matches!(progress, Progress::Done) {
                self.give_back(completion);
                free(context, memory);
                continue;
            }
            self.lock().parked.push(Parked { completion, memory });
            // The end of the copy, if it was stopped, is for `close` to report.
            if let Progress::Failed(Failed::Unproven(error)) = progress {
                log(context, error);
            }
        }
    }

    /// Waits for parked copies, frees their memory, and destroys everything. No [`Completion`] is
    /// used afterwards; that of a forgotten copy may be pending still.
    pub(crate) fn close(&self, context: &ContextHandle) {
        let inner = mem::take(&mut *self.lock());
        for Parked { completion, memory } in inner.parked {
            match completion.wait(context) {
                Ok(()) => free(context, memory),
                Err(Failed::Stopped(error)) => {
                    log(context, error);
                    free(context, memory);
                }
                // Whatever the copy still does, it does it to memory that is nobody's.
                Err(Failed::Unproven(error)) => {
                    mem::forget(completion.in_flight);
                    log(context, error);
                }
            }
        }
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

/// Frees what no copy touches any more (`cuMemFreeHost`, `cuMemFreeAsync`).
fn free(context: &ContextHandle, memory: Orphan) {
    let Orphan {
        host,
        visible,
        device,
        bytes,
        free_on,
    } = memory;
    // SAFETY: owned, and the copy has stopped (C6).
    context.tear_down(|driver| unsafe { calls::mem_free_host(driver, host) });
    // SAFETY: as above; the stream is the context's own, which outlives this.
    context.free_quietly(|| unsafe { context.free(device, bytes, free_on) });
    drop(visible);
}
