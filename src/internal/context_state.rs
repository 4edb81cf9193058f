//! What is behind a context's token.

#![allow(unsafe_code)] // destroys the service stream

use crate::attribute::Attribute;
use crate::device::Device;
use crate::error::Result;
use crate::ffi::CUcontext;
use crate::internal::completion::Completions;
use crate::internal::context_handle::ContextHandle;
use crate::internal::{calls, wait};
use std::ops::Deref;

/// A retained context with the limits of its device and what it keeps for copies that outlive
/// scopes.
pub(crate) struct ContextState {
    handle: ContextHandle,
    limits: LaunchLimits,
    completions: Completions,
}

/// What the device allows in a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchLimits {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) threads_per_block: u32,
}

impl LaunchLimits {
    fn of(device: Device) -> Result<Self> {
        let limit = |attribute| {
            device
                .attribute(attribute)
                .map(|value| u32::try_from(value).unwrap_or(0))
        };
        Ok(Self {
            grid: [
                limit(Attribute::MaxGridDimX)?,
                limit(Attribute::MaxGridDimY)?,
                limit(Attribute::MaxGridDimZ)?,
            ],
            block: [
                limit(Attribute::MaxBlockDimX)?,
                limit(Attribute::MaxBlockDimY)?,
                limit(Attribute::MaxBlockDimZ)?,
            ],
            threads_per_block: limit(Attribute::MaxThreadsPerBlock)?,
        })
    }
}

impl ContextState {
    /// `raw` is retained and current.
    pub(crate) fn open(device: Device, raw: CUcontext) -> Result<Self> {
        let limits = LaunchLimits::of(device)?;
        Ok(Self {
            handle: ContextHandle::open(device, raw)?,
            limits,
            completions: Completions::default(),
        })
    }

    pub(crate) fn limits(&self) -> &LaunchLimits {
        &self.limits
    }

    pub(crate) fn completions(&self) -> &Completions {
        &self.completions
    }
}

impl Deref for ContextState {
    type Target = ContextHandle;

    #[inline]
    fn deref(&self) -> &ContextHandle {
        &self.handle
    }
}

impl Drop for ContextState {
    fn drop(&mut self) {
        let service = self.service();
        self.completions.close(&self.handle);
        // Frees may be queued on it still. Nobody is left to use the pool when they have run.
        // (Nothing is lent here: no proof is needed.)
        if let Err(error) = wait::drain(self, service) {
            self.api().log_teardown(self.ordinal(), error);
        }
        // SAFETY: created in `open`, and every user of it borrows `self` (C1).
        self.tear_down(|driver| unsafe { calls::stream_destroy(driver, service) });
    }
}
