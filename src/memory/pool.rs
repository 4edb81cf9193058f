//! The memory pool of a context scope.
//!
//! `cuMemAlloc` and `cuMemFree` take 64 to 220 us together, a pool that keeps what is freed takes 5 (measured on an H200). The pool is
//! the scope's own: the device's default pool is shared with other libraries, and its attributes are theirs.

#![allow(unsafe_code)] // creates, uses and destroys a pool

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::{CUdeviceptr, CUmemoryPool, CUresult, CUstream, calls};

/// A pool of device memory that keeps what is freed for later allocations.
pub(crate) struct Pool {
    device: Device,
    raw: CUmemoryPool,
}

impl Pool {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let pool = Self {
            device,
            raw: calls::mem_pool_create(device.driver(), device.as_raw())?,
        };
        // SAFETY: live, just created.
        unsafe { calls::mem_pool_set_release_threshold(device.driver(), pool.raw, u64::MAX) }?;
        Ok(pool)
    }

    /// Memory that may be used on `stream`, a live stream of the pool's device, and elsewhere once that is ordered after this call.
    /// Zero bytes are address 0, without a driver call.
    pub(crate) fn allocate(&self, bytes: usize, stream: CUstream) -> Result<CUdeviceptr> {
        if bytes == 0 {
            return Ok(0);
        }
        // SAFETY: the pool lives as long as `self`, the stream by the caller's promise.
        let result = unsafe {
            calls::mem_alloc_from_pool_async(self.device.driver(), bytes, self.raw, stream)
        };
        result.map_err(|error| match error {
            Error::Driver(source) if source.code() == CUresult::OUT_OF_MEMORY => {
                Error::OutOfMemory {
                    ordinal: self.device.ordinal(),
                    bytes,
                    source,
                }
            }
            other => other,
        })
    }

    /// Lets `device` read and write the pool's memory, now and in future allocations. Doing it again changes nothing.
    pub(crate) fn allow(&self, device: Device) -> Result<()> {
        // SAFETY: the pool lives as long as `self`.
        unsafe { calls::mem_pool_set_access(self.device.driver(), self.raw, device.as_raw()) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let driver = self.device.driver();
        if driver.unpoisoned().is_err() {
            return;
        }
        // SAFETY: live and owned. What was leaked by `mem::forget` stays allocated and usable (measured); nothing else is left.
        if let Err(error) = unsafe { calls::mem_pool_destroy(driver, self.raw) } {
            driver.log_teardown(self.device.ordinal(), error);
        }
    }
}
