//! Waiting for a stream, and the frame that waits whatever happens (claim C5).
//!
//! Memory is lent to the driver for as long as a stream may touch it. What ends the loan is a wait that *proves* the work has stopped;
//! which answers prove it is written at [`CUresult::proves_stopped`](crate::ffi::CUresult::proves_stopped). When no answer
//! proves it, going on would hand memory back that the device may still write: the process aborts instead.

#![allow(unsafe_code)] // synchronises streams

use crate::context::ContextState;
use crate::error::{Error, Result};
use crate::ffi::{CUresult, CUstream, calls};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;
use std::{io, mem, process, thread};

/// Waits until `stream`, a live stream of the context, has finished its work or was stopped (`cuStreamSynchronize`).
///
/// Returns only when no work of the stream is running any more. An error is that of the work, or says that it was lost.
pub(crate) fn wait(context: &ContextState, stream: CUstream) -> Result<()> {
    context.not_lost()?;
    let driver = context.driver();
    // SAFETY: `stream` is live (the callers' promise) and so is its context, as was just asked.
    let Err(code) = (unsafe { calls::stream_synchronize(driver, stream) }) else {
        return Ok(());
    };
    if !code.proves_stopped() {
        poll_until_stopped(context, stream, code);
    }
    if code == CUresult::CONTEXT_IS_DESTROYED {
        return Err(context.lost());
    }
    // An earlier fault is what ended the work; this answer only repeats it.
    driver.unpoisoned()?;
    Err(driver.failed(code, "cuStreamSynchronize"))
}

/// The second means, for when the wait failed and proved nothing: ask until the answer does, or give up the process.
#[cold]
fn poll_until_stopped(context: &ContextState, stream: CUstream, code: CUresult) {
    loop {
        // SAFETY: as in `wait`.
        let answer = unsafe { calls::stream_query(context.driver(), stream) };
        if answer.proves_stopped() {
            return;
        }
        if answer != CUresult::NOT_READY {
            let _ = writeln!(
                io::stderr(),
                "scoped-cuda: waiting for a stream failed ({}, then {}) and does not prove that its work has stopped; \
                 memory lent to it cannot be given back: aborting",
                code.0,
                answer.0
            );
            process::abort();
        }
        thread::sleep(Duration::from_micros(50));
    }
}

/// Runs `work`, which may enqueue operations that borrow memory on `streams`, then waits for those, on return and on panic alike.
///
/// The wait comes first and the report afterwards. Of several errors the earliest is reported, that of `work` before those of the waits;
/// the others are kept in the log of teardown errors.
pub(crate) fn settle<
    'a,
    R,
    E: From<Error>,
    S: IntoIterator<Item = (&'a ContextState, CUstream)>,
>(
    work: impl FnOnce() -> Result<R, E>,
    streams: impl FnOnce() -> S,
) -> Result<R, E> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let armed = AbortOnDrop;
    let mut is_reported = !matches!(outcome, Ok(Ok(_)));
    let mut waited = Ok(());
    for (context, stream) in streams() {
        match wait(context, stream) {
            Err(error) if is_reported => context.driver().log_teardown(context.ordinal(), error),
            Err(error) => (is_reported, waited) = (true, Err(error)),
            Ok(()) => {}
        }
    }
    mem::forget(armed);
    match outcome {
        Ok(result) => result.and_then(|value| waited.map(|()| value).map_err(E::from)),
        Err(panic) => resume_unwind(panic),
    }
}

/// [`settle`] for an operation on the service stream that is complete when it returns.
pub(crate) fn complete(
    context: &ContextState,
    enqueue: impl FnOnce(CUstream) -> Result<()>,
) -> Result<()> {
    context.not_lost()?;
    let service = context.service();
    settle(|| enqueue(service), || [(context, service)])
}

/// While this exists, unwinding past it would free memory that is still lent.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        process::abort();
    }
}
