//! Stream captures.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::capture;
use crate::registry::{Handle, Named};
use scoped_cuda_sys::{CUresult, CUstream, CUstreamCaptureMode};
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

/// Changes the calling thread and no machine, so that it is neither counted nor refused.
pub(super) unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(
    mode: *mut CUstreamCaptureMode,
) -> CUresult {
    let Some(mode) = NonNull::new(mode) else {
        return CUresult::INVALID_VALUE;
    };
    // SAFETY: valid for the call.
    match capture::exchange_mode(unsafe { mode.read() }) {
        Ok(before) => {
            // SAFETY: as above.
            unsafe { mode.write(before) };
            CUresult::SUCCESS
        }
        Err(code) => code,
    }
}

pub(super) unsafe extern "C" fn cuStreamBeginCapture(
    stream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    call(
        "cuStreamBeginCapture",
        Named::Handle(stream),
        |_, mut state| {
            let stream = state.stream(stream)?;
            state.begin_capture(stream, mode)
        },
    )
}

pub(super) unsafe extern "C" fn cuStreamEndCapture(
    stream: CUstream,
    graph: *mut *mut c_void,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    // SAFETY: null or valid for the call.
    let graph = unsafe { Out::new(graph) };
    call(
        "cuStreamEndCapture",
        Named::Handle(stream),
        |_, mut state| {
            // There are no graphs: what was captured is nothing.
            graph?.set(ptr::null_mut())?;
            let stream = state.stream(stream)?;
            state.end_capture(stream)
        },
    )
}

pub(super) unsafe extern "C" fn cuStreamIsCapturing(
    stream: CUstream,
    status: *mut c_int,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    // SAFETY: null or valid for the call.
    let status = unsafe { Out::new(status) };
    call(
        "cuStreamIsCapturing",
        Named::Handle(stream),
        |_, mut state| {
            let stream = state.stream(stream)?;
            status?.set(state.capture_status(stream))
        },
    )
}
