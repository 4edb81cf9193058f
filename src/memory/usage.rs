//! How much memory a context holds, and how much it may.

use crate::context::Context;
use crate::error::Result;
use crate::ffi::{
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH,
};
use crate::internal::{calls, current};

/// What a context's pool of device memory holds, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryUsage {
    /// Bytes in allocations.
    pub used_bytes: usize,
    /// Bytes that the pool took from the device: those in use and those kept for later.
    pub reserved_bytes: usize,
    /// The largest `used_bytes` so far.
    pub used_high_bytes: usize,
    /// The largest `reserved_bytes` so far.
    pub reserved_high_bytes: usize,
}

impl Context<'_> {
    /// Free memory of the device in bytes, at this moment, for all processes (`cuMemGetInfo`).
    ///
    /// What this context's pool holds in reserve counts as used.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuMemGetInfo")]
    pub fn free_memory_bytes(self) -> Result<usize> {
        current::bind(self.state(), || calls::mem_get_info(self.api())).map(|(free, _total)| free)
    }

    /// What this context's pool of device memory holds (`cuMemPoolGetAttribute`). Memory that was
    /// freed in the order of a stream counts as used until the stream has come to that.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let buffer = ctx.zeros::<u32>(1000)?;
    /// let usage = ctx.memory_usage()?;
    /// assert!(usage.used_bytes >= buffer.size_bytes() && usage.reserved_bytes >= usage.used_bytes);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemPoolGetAttribute")]
    pub fn memory_usage(self) -> Result<MemoryUsage> {
        let pool = self.state().pool();
        Ok(MemoryUsage {
            used_bytes: pool.bytes(CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
            reserved_bytes: pool.bytes(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
            used_high_bytes: pool.bytes(CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
            reserved_high_bytes: pool.bytes(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
        })
    }

    /// Gives memory that this context's pool keeps for later back to the device, all but
    /// `keep_bytes` bytes (`cuMemPoolTrimTo`). What is allocated stays.
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
    #[doc(alias = "cuMemPoolTrimTo")]
    pub fn trim_memory(self, keep_bytes: usize) -> Result<()> {
        self.state().pool().trim(keep_bytes)
    }

    /// Refuses allocations that would make this context's memory more than `max_bytes` bytes;
    /// `None` lifts the limit. No driver call.
    ///
    /// The limit belongs to this `with_device`, for all copies of the token. It counts the bytes
    /// that were asked for, from the allocation to the call that frees; a forgotten buffer counts
    /// to the end. What is allocated already stays, however low the limit.
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
    pub fn limit_memory(self, max_bytes: Option<usize>) {
        self.state().pool().set_cap(max_bytes);
    }
}
