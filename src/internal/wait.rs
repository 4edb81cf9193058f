//! Waiting for a stream, and the frame that waits whatever happens (claim C5).
//!
//! Memory is lent to the driver for as long as a stream may touch it. What ends the loan is a wait
//! that *proves* the work has stopped; which answers prove it is written at
//! [`CUresult::proves_stopped`](crate::ffi::CUresult::proves_stopped). When no answer proves it,
//! going on would hand memory back that the device may still write: the process aborts instead.

#![allow(unsafe_code)] // synchronises streams

use crate::abort::{UnprovenWait, never_return};
use crate::error::{Error, Result};
use crate::ffi::{CUevent, CUresult, CUstream};
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use crate::internal::host_function::Owner;
use crate::internal::in_flight::InFlight;
use crate::internal::loans::{self, LoanScope};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;
use std::{mem, process, thread};

/// Waits until `stream`, a live stream of the context, has finished its work or was stopped
/// (`cuStreamSynchronize`).
///
/// Returns only when no work of the stream is running any more, or none that touches memory which
/// anybody can still reach. An error is that of the work, or says that it was lost.
pub(crate) fn wait(
    context: &ContextHandle,
    stream: CUstream,
    lends_host_memory: impl FnOnce() -> bool,
) -> Result<(), Failed> {
    context.not_lost().map_err(Failed::Stopped)?;
    let api = context.api();
    // SAFETY: `stream` is live (the callers' promise) and so is its context, as was just asked.
    let Err(code) = (unsafe { calls::stream_synchronize(api, stream) }) else {
        return Ok(());
    };
    // SAFETY: as above.
    let ask = || unsafe { calls::stream_query(api, stream) };
    match has_stopped(context, code, ask) {
        Ok(end) => ended(context, end, "cuStreamSynchronize").map_err(Failed::Stopped),
        Err(answer) if lends_host_memory() => never_return(&UnprovenWait {
            ordinal: context.ordinal(),
            code: code.0,
            answer: answer.0,
            may_be_of_another_device: answer.is_sticky(),
        }),
        // Memory of the device alone: what the work still does to it, nobody sees, because from now
        // on the driver is never called again (C10).
        Err(answer) => {
            let code = told(code, answer);
            Err(Failed::Unproven(api.poison(code, "cuStreamSynchronize")))
        }
    }
}

/// Why a wait failed.
pub(crate) enum Failed {
    /// The work has stopped.
    Stopped(Error),
    /// The work may be running still.
    Unproven(Error),
}

/// Waits until what was recorded in `event`, a live event of the context, is done or was stopped
/// (`cuEventSynchronize`).
pub(crate) fn wait_event(context: &ContextHandle, event: CUevent) -> Result<(), Failed> {
    context.not_lost().map_err(Failed::Stopped)?;
    let driver = context.api();
    // SAFETY: `event` is live (the callers' promise).
    let Err(code) = (unsafe { calls::event_synchronize_regardless(driver, event) }) else {
        return Ok(());
    };
    // SAFETY: as above.
    let stopped = has_stopped(context, code, || unsafe {
        calls::event_query(driver, event)
    });
    match stopped {
        Ok(end) => ended(context, end, "cuEventSynchronize").map_err(Failed::Stopped),
        Err(answer) => {
            let error = work_failed(context, told(code, answer), "cuEventSynchronize");
            Err(Failed::Unproven(error))
        }
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Stopped(error) | Failed::Unproven(error) => error,
        }
    }
}

/// [`wait`] for memory that is owned: tells when nothing is proved, and does not abort. Only
/// whether the work has stopped is told.
#[cold]
pub(crate) fn drains(context: &ContextHandle, stream: CUstream) -> bool {
    let driver = context.api();
    if context.is_lost() {
        return true;
    }
    // SAFETY: `stream` is live (the callers' promise) and so is its context, as was just asked.
    let Err(code) = (unsafe { calls::stream_synchronize(driver, stream) }) else {
        return true;
    };
    // SAFETY: as above.
    has_stopped(context, code, || unsafe {
        calls::stream_query(driver, stream)
    })
    .is_ok()
}

/// [`wait`] where nothing is lent to what is waited for, so that nothing has to be proved.
pub(crate) fn drain(context: &ContextHandle, stream: CUstream) -> Result<()> {
    context.not_lost()?;
    let driver = context.api();
    // SAFETY: `stream` is live (the callers' promise) and so is its context, as was just asked.
    let Err(code) = (unsafe { calls::stream_synchronize(driver, stream) }) else {
        return Ok(());
    };
    // Waits all the same, if there is a way.
    // SAFETY: as above.
    let stopped = has_stopped(context, code, || unsafe {
        calls::stream_query(driver, stream)
    });
    ended(context, stopped.unwrap_or(code), "cuStreamSynchronize")
}

/// What is to be reported of work that has ended with the code of `call`.
#[cold]
fn ended(context: &ContextHandle, code: CUresult, call: &'static str) -> Result<()> {
    match code {
        CUresult::SUCCESS => Ok(()),
        code => Err(work_failed(context, code, call)),
    }
}

/// Converts a failed query (neither done nor running) into an error.
#[cold]
pub(crate) fn work_failed(context: &ContextHandle, code: CUresult, call: &'static str) -> Error {
    if code == CUresult::CONTEXT_IS_DESTROYED {
        return context.lost();
    }
    // An earlier fault is what ended the work; this answer only repeats it.
    match context.api().unpoisoned() {
        Err(poisoned) => poisoned,
        Ok(()) => context.api().failed(code, call),
    }
}

/// Whether the failure `code` of a wait proves that the work has stopped. If it does not there is a
/// second means: to `ask` until an answer proves it.
///
/// Returns the code with which the work has ended: that of the wait, unless it refused to wait.
///
/// # Errors
/// The answer that proves nothing either.
#[cold]
fn has_stopped(
    context: &ContextHandle,
    code: CUresult,
    ask: impl Fn() -> CUresult,
) -> Result<CUresult, CUresult> {
    let mut answer = code;
    while !proves_stopped(context, answer) {
        answer = ask();
        match answer {
            CUresult::NOT_READY => thread::sleep(Duration::from_micros(50)),
            // Other code captures this very stream: the question has an answer when it has ended
            // that.
            answer if answer.refuses_to_wait() => thread::sleep(Duration::from_micros(50)),
            answer if proves_stopped(context, answer) => {}
            answer => return Err(answer),
        }
    }
    Ok(told(code, answer))
}

/// Of the code of a wait and the last answer afterwards, the one that tells of the work.
fn told(code: CUresult, answer: CUresult) -> CUresult {
    if code.refuses_to_wait() { answer } else { code }
}

/// Whether an answer about a stream of the context proves that its work is not running any more. A
/// fault does if it is of this device.
pub(crate) fn proves_stopped(context: &ContextHandle, answer: CUresult) -> bool {
    answer.proves_stopped() && (!answer.is_sticky() || may_only_be_of(context))
}

/// Whether a fault of this process can only be of the context's device.
pub(crate) fn may_only_be_of(context: &ContextHandle) -> bool {
    context.api().in_flight().is_alone(context.ordinal())
}

/// A stream that work was enqueued on, to be waited for.
pub(crate) struct InUse<'a> {
    pub(crate) context: &'a ContextHandle,
    pub(crate) stream: CUstream,
    /// That the device has work in flight was counted since before.
    pub(crate) in_flight: InFlight,
    pub(crate) host: HostUse<'a>,
}

/// Whether host memory is lent to a stream.
pub(crate) enum HostUse<'a> {
    /// As its loans say.
    Loans(LoanScope<'a>),
    /// It is.
    Lent,
    /// It is not: the operation touches memory of the device alone.
    None,
}

impl HostUse<'_> {
    fn is_lent(&self) -> bool {
        match self {
            Self::Loans(loans) => loans.is_lent(),
            Self::Lent => true,
            Self::None => loans::is_visible(),
        }
    }
}

/// Runs `work`, which may enqueue operations that borrow memory on `streams`, then waits for those,
/// on return and on panic alike. Each comes with the proof that it was counted since before; a
/// stream that has done its work counts no longer, and so leaves the next one alone.
///
/// The wait comes first and the report afterwards. Of several errors the earliest is reported: that
/// of `work`, then that of a host function that `owner` enqueued, then those of the waits. The
/// others are kept in the log of teardown errors.
pub(crate) fn settle<'a, R, E: From<Error>, S: IntoIterator<Item = InUse<'a>>>(
    owner: Option<Owner>,
    work: impl FnOnce() -> Result<R, E>,
    streams: impl FnOnce() -> S,
) -> Result<R, E> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let armed = AbortOnDrop;
    let (mut failed, mut counted) = (Vec::new(), Vec::new());
    let mut api = None;
    for used in streams() {
        let InUse {
            context, stream, ..
        } = used;
        api = Some(context.api());
        match wait(context, stream, || used.host.is_lent()) {
            Ok(()) => {}
            Err(Failed::Stopped(error)) => {
                failed.push((context.device(), error));
                counted.push(used.in_flight);
            }
            Err(Failed::Unproven(error)) => {
                failed.push((context.device(), error));
                // The device may be at work still, for ever as far as this process knows.
                mem::forget(used.in_flight);
            }
        }
    }
    mem::forget(armed);
    let panicked = owner.map_or_else(Vec::new, Owner::finish);
    if let Some(api) = api {
        // What its host functions have dropped.
        api.deferred().drop_now();
    }
    let mut is_reported = !matches!(outcome, Ok(Ok(_)));
    let mut waited = Ok(());
    // After a fault the driver calls no host function, so one that panicked did so before.
    for (device, error) in panicked.into_iter().chain(failed) {
        if is_reported {
            device.api().log_teardown(device.ordinal(), error);
        } else {
            (is_reported, waited) = (true, Err(error));
        }
    }
    match outcome {
        Ok(result) => result.and_then(|value| waited.map(|()| value).map_err(E::from)),
        Err(panic) => resume_unwind(panic),
    }
}

/// While this exists, unwinding past it would free memory that is still lent.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        process::abort();
    }
}
