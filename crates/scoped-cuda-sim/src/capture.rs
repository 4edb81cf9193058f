//! Stream captures, as far as they disturb calls that have nothing to do with them.
//!
//! A capture records nothing here: work for a stream that is captured is refused, and a violation
//! says so. What is simulated is what a capture of other code in the process does to everybody
//! else: calls that it cannot hold are refused with `STREAM_CAPTURE_UNSUPPORTED` and break it,
//! unless their thread has exchanged its mode for the relaxed one (measured on an H200, CUDA 13.0).

use super::machine::{Outcome, State};
use super::registry::Handle;
use scoped_cuda_sys::{
    CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUresult, CUstreamCaptureMode,
};
use std::cell::Cell;
use std::thread::{self, ThreadId};

thread_local! {
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

/// Calls that no capture of a mode but the relaxed one can hold.
const PROHIBITED: [&str; 10] = [
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemPoolCreate",
    "cuMemPoolSetAttribute",
    "cuMemAllocFromPoolAsync",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuEventSynchronize",
    "cuCtxSynchronize",
];

/// A capture that has begun.
pub(super) struct Capture {
    mode: CUstreamCaptureMode,
    thread: ThreadId,
    is_broken: bool,
}

/// Exchanges the calling thread's mode for another and returns the one before.
pub(super) fn exchange_mode(mode: CUstreamCaptureMode) -> Outcome<CUstreamCaptureMode> {
    if mode > CU_STREAM_CAPTURE_MODE_RELAXED {
        return Err(CUresult::INVALID_VALUE);
    }
    Ok(MODE.replace(mode))
}

impl State {
    pub(super) fn begin_capture(&mut self, stream: Handle, mode: CUstreamCaptureMode) -> Outcome {
        if mode > CU_STREAM_CAPTURE_MODE_RELAXED {
            return Err(CUresult::INVALID_VALUE);
        }
        if self.captures.contains_key(&stream) {
            return Err(CUresult::INVALID_VALUE);
        }
        let capture = Capture {
            mode,
            thread: thread::current().id(),
            is_broken: false,
        };
        self.captures.insert(stream, capture);
        Ok(())
    }

    /// Ends the capture of a stream.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_INVALIDATED` when a call has broken it.
    pub(super) fn end_capture(&mut self, stream: Handle) -> Outcome {
        match self.captures.remove(&stream) {
            Some(capture) if capture.is_broken => Err(CUresult::STREAM_CAPTURE_INVALIDATED),
            Some(_) => Ok(()),
            None => Err(CUresult::INVALID_VALUE),
        }
    }

    /// `CUstreamCaptureStatus`: 0 for none, 1 for one in progress, 2 for one that is broken.
    pub(super) fn capture_status(&self, stream: Handle) -> i32 {
        self.captures
            .get(&stream)
            .map_or(0, |capture| 1 + i32::from(capture.is_broken))
    }

    /// Whether work may be enqueued on a stream: not while it is captured.
    pub(super) fn not_captured(&mut self, stream: Handle) -> Outcome {
        if self.captures.contains_key(&stream) {
            self.violation("work for a stream that is captured: captures record nothing here");
            return Err(CUresult::NOT_SUPPORTED);
        }
        Ok(())
    }

    /// Refuses a call that a capture in progress cannot hold, and breaks that capture.
    pub(super) fn mind_captures(&mut self, call: &str) -> Outcome {
        let mode = MODE.get();
        if self.captures.is_empty()
            || mode == CU_STREAM_CAPTURE_MODE_RELAXED
            || !PROHIBITED.contains(&call)
        {
            return Ok(());
        }
        let own = thread::current().id();
        let mut is_refused = false;
        for capture in self.captures.values_mut() {
            let minds = match capture.mode {
                CU_STREAM_CAPTURE_MODE_RELAXED => false,
                _ if capture.thread == own => true,
                CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => false,
                _ => mode == CU_STREAM_CAPTURE_MODE_GLOBAL,
            };
            if minds {
                capture.is_broken = true;
                is_refused = true;
            }
        }
        match is_refused {
            true => Err(CUresult::STREAM_CAPTURE_UNSUPPORTED),
            false => Ok(()),
        }
    }
}
