//! Allocation from a context's pool, in the order of a stream.

#![allow(unsafe_code)] // allocates and frees

use crate::error::{DriverError, Error, Result};
use crate::ffi::{CUdeviceptr, CUresult, CUstream};
use crate::internal::context_handle::ContextHandle;
use crate::internal::{calls, current};

impl ContextHandle {
    /// Memory of the pool that may be used on `stream`, a live stream of this context, and
    /// elsewhere once that is ordered after this call. Zero bytes are address 0, without a driver
    /// call.
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
            unsafe { calls::mem_alloc_from_pool_async(self.api(), bytes, pool.as_raw(), stream) };
        result.map_err(|error| {
            pool.count_freed(bytes);
            match error {
                Error::Driver(source) if source.code() == CUresult::OUT_OF_MEMORY => {
                    // The allocation's failure is the news; that this question may fail too is not.
                    let info = current::bind(self, || calls::mem_get_info(self.api())).ok();
                    self.out_of_memory(bytes, info.map(|(free, _total)| free), Some(source))
                }
                other => self.explained(other),
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
    /// When other code has reset the context, the stream is gone, and the memory is not: memory of
    /// a pool has no context (measured: 4 GiB stayed used for the life of the process). It is freed
    /// by its address then, in the primary context as it is now; its uses have ended with the
    /// context.
    ///
    /// # Safety
    /// `address` is live, `stream` is a live stream unless the context is lost, and every use of
    /// the memory is ordered before this point of it.
    pub(crate) unsafe fn free(
        &self,
        address: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    ) -> Result<()> {
        if self.is_lost() {
            current::within_primary(self.device(), || {
                // SAFETY: live, and nothing uses it: ending a context ends its work first.
                unsafe { calls::mem_free(self.api(), address) }
            })
            // What the reset has caught half way, the driver does not know any more.
            .map_err(|_| self.lost())?;
        } else {
            // SAFETY: the caller promises: `address` is live, `stream` is a live stream unless the
            // context is lost, and every use of the memory is ordered before this point of it.
            unsafe { calls::mem_free_async(self.api(), address, stream) }?;
        }
        self.pool().count_freed(bytes);
        Ok(())
    }
}
