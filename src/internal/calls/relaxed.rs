//! Calls that no stream capture of other code may refuse.
//!
//! While any code of the process captures a stream, a wait, an allocation or a free of somebody
//! else is refused, with `STREAM_CAPTURE_UNSUPPORTED`, and breaks the capture: on the capturing
//! thread, and with a capture in global mode (the default of several libraries) on every other
//! thread too. A wait that is refused has not waited. Under the relaxed mode of the calling thread
//! the same calls work and leave the capture whole (measured on an H200, CUDA 13.0).

#![allow(unsafe_code)] // makes driver calls

use crate::ffi::{CU_STREAM_CAPTURE_MODE_RELAXED, CUresult, CUstreamCaptureMode};
use crate::internal::api::Api;

/// While this lives, the calls of this thread are no captures' business.
pub(crate) struct Relaxed {
    api: Api,
    /// The mode to be put back; `None` when it was relaxed already, or could not be exchanged.
    before: Option<CUstreamCaptureMode>,
}

impl Api {
    /// Relaxes the calling thread (`cuThreadExchangeStreamCaptureMode`). When the driver refuses
    /// that, the calls are made all the same, and answer for themselves.
    #[inline]
    pub(crate) fn relaxed(self) -> Relaxed {
        let before = exchange(self, CU_STREAM_CAPTURE_MODE_RELAXED).ok();
        Relaxed {
            api: self,
            before: before.filter(|&mode| mode != CU_STREAM_CAPTURE_MODE_RELAXED),
        }
    }
}

impl Drop for Relaxed {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Once more when it fails: a thread that stays relaxed could break captures of its own.
            if exchange(self.api, before).is_err() {
                let _ = exchange(self.api, before);
            }
        }
    }
}

#[inline]
fn exchange(api: Api, mut mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode, CUresult> {
    // SAFETY: the pointer is valid for the call, which reads and writes it.
    match unsafe { (api.symbols().cuThreadExchangeStreamCaptureMode)(&raw mut mode) } {
        CUresult::SUCCESS => Ok(mode),
        code => Err(code),
    }
}
