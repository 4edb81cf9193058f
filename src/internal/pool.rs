//! The memory pool of a context scope, and how much of it is used.
//!
//! `cuMemAlloc` and `cuMemFree` take 64 to 220 us together, a pool that keeps what is freed takes 5 (measured on an H200). The pool is
//! the scope's own: the device's default pool is shared with other libraries, and its attributes are theirs.

#![allow(unsafe_code)] // creates, uses and destroys a pool

use crate::context::{Context, ContextState};
use crate::device::Device;
use crate::error::{DriverError, Error, Result};
use crate::ffi::{
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH, CUdeviceptr, CUmemoryPool,
    CUresult, CUstream,
};
use crate::internal::calls;
use crate::internal::current;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pool of device memory that keeps what is freed for later allocations.
pub(crate) struct Pool {
    device: Device,
    raw: CUmemoryPool,
    /// Bytes asked for in allocations that were not freed. A number and no more: it orders nothing, hence `Relaxed` wherever it is used.
    allocated: AtomicUsize,
    /// The most that `allocated` may be; `NO_CAP` for no limit.
    cap: AtomicUsize,
}

/// More than can be allocated.
const NO_CAP: usize = usize::MAX;

/// What a context's pool of device memory holds, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryUsage {
    /// In allocations.
    pub used: usize,
    /// What the pool took from the device: what is used and what is kept for later.
    pub reserved: usize,
    /// The largest `used` so far.
    pub used_high: usize,
    /// The largest `reserved` so far.
    pub reserved_high: usize,
}

impl Pool {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let pool = Self {
            device,
            raw: calls::mem_pool_create(device.driver(), device.as_raw())?,
            allocated: AtomicUsize::new(0),
            cap: AtomicUsize::new(NO_CAP),
        };
        // SAFETY: live, just created.
        unsafe { calls::mem_pool_set_release_threshold(device.driver(), pool.raw, u64::MAX) }?;
        Ok(pool)
    }

    /// Lets `device` read and write the pool's memory, now and in future allocations. Doing it again changes nothing.
    pub(crate) fn allow(&self, device: Device) -> Result<()> {
        // SAFETY: the pool lives as long as `self`.
        unsafe { calls::mem_pool_set_access(self.device.driver(), self.raw, device.as_raw()) }
    }

    fn cap(&self) -> Option<usize> {
        Some(self.cap.load(Ordering::Relaxed)).filter(|&cap| cap != NO_CAP)
    }

    /// Counts `bytes` as allocated.
    ///
    /// # Errors
    /// How many are left when the cap leaves fewer.
    fn count(&self, bytes: usize) -> Result<(), usize> {
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

    fn count_freed(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn usage(&self) -> Result<MemoryUsage> {
        let ask = |attribute| {
            // SAFETY: the pool lives as long as `self`; these are the counters that the call knows.
            let bytes =
                unsafe { calls::mem_pool_get_bytes(self.device.driver(), self.raw, attribute) }?;
            Ok::<_, Error>(usize::try_from(bytes).unwrap_or(usize::MAX))
        };
        Ok(MemoryUsage {
            used: ask(CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
            reserved: ask(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
            used_high: ask(CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
            reserved_high: ask(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
        })
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

impl ContextState {
    /// Memory of the pool that may be used on `stream`, a live stream of this context, and elsewhere once that is ordered after this
    /// call. Zero bytes are address 0, without a driver call.
    pub(crate) fn allocate(&self, bytes: usize, stream: CUstream) -> Result<CUdeviceptr> {
        if bytes == 0 {
            return Ok(0);
        }
        let pool = self.pool();
        if let Err(left) = pool.count(bytes) {
            return Err(self.out_of_memory(bytes, Some(left), None));
        }
        // SAFETY: the pool lives as long as `self`, the stream by the caller's promise.
        let result =
            unsafe { calls::mem_alloc_from_pool_async(self.driver(), bytes, pool.raw, stream) };
        result.map_err(|error| {
            pool.count_freed(bytes);
            match error {
                Error::Driver(source) if source.code() == CUresult::OUT_OF_MEMORY => {
                    // The allocation's failure is the news; that this question may fail too is not.
                    let info = current::bind(self, || calls::mem_get_info(self.driver())).ok();
                    self.out_of_memory(bytes, info.map(|(free, _total)| free), Some(source))
                }
                other => other,
            }
        })
    }

    #[cold]
    fn out_of_memory(
        &self,
        asked: usize,
        free: Option<usize>,
        source: Option<DriverError>,
    ) -> Error {
        Error::OutOfMemory {
            ordinal: self.ordinal(),
            asked,
            free,
            cap: self.pool().cap(),
            source: source.map(Box::new),
        }
    }

    /// Frees what [`allocate`](Self::allocate) gave for `bytes`.
    ///
    /// # Safety
    /// `address` is live, `stream` is a live stream, and every use of the memory is ordered before this point of it.
    pub(crate) unsafe fn free(
        &self,
        address: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { calls::mem_free_async(self.driver(), address, stream) }?;
        self.pool().count_freed(bytes);
        Ok(())
    }
}

impl Context<'_> {
    /// What this context's pool of device memory holds (`cuMemPoolGetAttribute`). Memory that was freed in the order of a stream counts
    /// as used until the stream has come to that.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let buffer = ctx.zeros::<u32>(1000)?;
    /// let usage = ctx.memory_usage()?;
    /// assert!(usage.used >= buffer.size_bytes() && usage.reserved >= usage.used);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn memory_usage(self) -> Result<MemoryUsage> {
        self.state().pool().usage()
    }

    /// Gives memory that this context's pool keeps for later back to the device, all but `keep` bytes (`cuMemPoolTrimTo`). What is
    /// allocated stays.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// drop(ctx.zeros::<u8>(100 << 20)?); // 100 MiB, which the pool keeps
    /// ctx.trim_memory(0)?; // for other programs
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn trim_memory(self, keep: usize) -> Result<()> {
        // SAFETY: the pool lives as long as the context (C1).
        unsafe { calls::mem_pool_trim_to(self.driver(), self.state().pool().raw, keep) }
    }

    /// Refuses allocations that would make this context's memory more than `bytes`; `None` lifts the limit. No driver call.
    ///
    /// The limit is that of this `with_device`, for all copies of the token. It counts the bytes that were asked for, from the
    /// allocation to the call that frees; a forgotten buffer counts to the end. What is allocated already stays, however low the limit.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// ctx.limit_memory(Some(1000));
    /// let buffer = ctx.zeros::<u8>(800)?;
    /// let error = ctx.zeros::<u8>(300).unwrap_err();
    /// assert_eq!(error.to_string(), "device 0 cannot allocate 300 bytes: 200 are left of the context's limit of 1000");
    /// drop(buffer);
    /// ctx.zeros::<u8>(300)?;
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn limit_memory(self, bytes: Option<usize>) {
        let cap = &self.state().pool().cap;
        cap.store(bytes.unwrap_or(NO_CAP), Ordering::Relaxed);
    }
}
