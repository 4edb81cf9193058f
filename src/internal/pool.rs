//! The memory pool of a context.
//!
//! `cuMemAlloc` and `cuMemFree` take 64 to 220 us together, a pool that keeps what is freed takes 5
//! (measured on an H200). The pool is the scope's own: the device's default pool is shared with
//! other libraries, and its attributes are theirs.

#![allow(unsafe_code)] // creates, uses and destroys a pool

use crate::device::Device;
use crate::error::Result;
use crate::ffi::{CUmemPool_attribute, CUmemoryPool};
use crate::internal::calls;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pool of device memory that keeps what is freed for later allocations.
pub(crate) struct Pool {
    device: Device,
    raw: CUmemoryPool,
    /// Bytes asked for in allocations that were not freed. A number and no more: it orders nothing,
    /// hence `Relaxed` wherever it is used.
    allocated: AtomicUsize,
    /// The most that `allocated` may be; `NO_CAP` for no limit.
    cap: AtomicUsize,
}

/// More than can be allocated.
const NO_CAP: usize = usize::MAX;

impl Pool {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let pool = Self {
            device,
            raw: calls::mem_pool_create(device.api(), device.as_raw())?,
            allocated: AtomicUsize::new(0),
            cap: AtomicUsize::new(NO_CAP),
        };
        // SAFETY: live, just created.
        unsafe { calls::mem_pool_set_release_threshold(device.api(), pool.raw, u64::MAX) }?;
        Ok(pool)
    }

    /// Lets `device` read and write the pool's memory, now and in future allocations. Doing it
    /// again changes nothing.
    pub(crate) fn allow(&self, device: Device) -> Result<()> {
        // SAFETY: the pool lives as long as `self`.
        unsafe { calls::mem_pool_set_access(self.device.api(), self.raw, device.as_raw()) }
    }

    pub(crate) fn cap(&self) -> Option<usize> {
        Some(self.cap.load(Ordering::Relaxed)).filter(|&cap| cap != NO_CAP)
    }

    /// Counts `bytes` as allocated.
    ///
    /// # Errors
    /// How many are left when the cap leaves fewer.
    pub(crate) fn count(&self, bytes: usize) -> Result<(), usize> {
        let cap = self.cap.load(Ordering::Relaxed);
        let counted =
            self.allocated
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |allocated| {
                    allocated.checked_add(bytes).filter(|&sum| sum <= cap)
                });
        counted
            .map(drop)
            .map_err(|allocated| cap.saturating_sub(allocated))
    }

    pub(crate) fn count_freed(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A counter of the pool, in bytes.
    pub(crate) fn bytes(&self, counter: CUmemPool_attribute) -> Result<usize> {
        // SAFETY: the pool lives as long as `self`; the callers name counters of the pool.
        let bytes = unsafe { calls::mem_pool_get_bytes(self.device.api(), self.raw, counter) }?;
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Gives back what is kept for later, all but `keep` bytes.
    pub(crate) fn trim(&self, keep: usize) -> Result<()> {
        // SAFETY: the pool lives as long as `self`.
        unsafe { calls::mem_pool_trim_to(self.device.api(), self.raw, keep) }
    }

    pub(crate) fn set_cap(&self, bytes: Option<usize>) {
        self.cap.store(bytes.unwrap_or(NO_CAP), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn as_raw(&self) -> CUmemoryPool {
        self.raw
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let driver = self.device.api();
        if driver.unpoisoned().is_err() {
            return;
        }
        // SAFETY: live and owned. What was leaked by `mem::forget` stays allocated and usable
        // (measured); nothing else is left.
        if let Err(error) = unsafe { calls::mem_pool_destroy(driver, self.raw) } {
            driver.log_teardown(self.device.ordinal(), error);
        }
    }
}
