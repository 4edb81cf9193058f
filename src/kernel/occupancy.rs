//! How much of a device a kernel fills.

#![allow(unsafe_code)] // asks the driver about functions

use super::kernel::Kernel;
use super::launch_config::LaunchConfig;
use crate::attribute::Attribute;
use crate::error::Result;
use crate::internal::calls;
use crate::internal::current;
use std::ffi::c_int;

/// A size of blocks with which a kernel keeps as many threads as possible on the device. Made by
/// [`Kernel::best_block`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BestBlock {
    /// Threads of a block; 0 when no block of this kernel fits the device.
    pub threads: u32,
    /// Blocks that the device runs at once, which is the smallest grid that fills it.
    pub grid: u32,
}

impl<P> Kernel<'_, P> {
    /// How many blocks of `threads` threads and `shared_bytes` bytes of dynamic shared memory one
    /// multiprocessor runs at once (`cuOccupancyMaxActiveBlocksPerMultiprocessor`). 0 when not even
    /// one fits, or the kernel may have no such block.
    ///
    /// # Errors
    /// [`Error::ContextLost`](crate::Error::ContextLost) or what the driver returns:
    /// `CUDA_ERROR_INVALID_VALUE` for 0 threads.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, In, Out, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }");
    /// # driver.with_device(0, |ctx| {
    /// let copy = ctx.load_ptx(ptx)?.kernel::<(In<f32>, Out<f32>, u32)>("copy")?;
    /// let best = copy.best_block(0)?;
    /// assert!(copy.active_blocks(best.threads, 0)? >= 1);
    /// let config = LaunchConfig::for_elements_in_blocks(1_000_000, best.threads);
    /// # assert_eq!(config.block(), [best.threads, 1, 1]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn active_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        // The driver looks at the low 32 bits of a size, as a signed number (measured).
        if shared_bytes > self.max_dynamic_shared_bytes() {
            return Ok(0);
        }
        let (context, driver) = (self.context(), self.context().api());
        let (threads, function) = (
            c_int::try_from(threads).unwrap_or(c_int::MAX),
            self.loaded()?,
        );
        // SAFETY: the function is loaded while the kernel lives (C1).
        let blocks = current::bind(context.state(), || unsafe {
            calls::occupancy_max_active_blocks(driver, function, threads, shared_bytes as usize)
        })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// The size of blocks, along x and each with `shared_bytes` bytes of dynamic shared memory,
    /// that keeps most threads on the device at once; of equally good ones the largest.
    ///
    /// # Errors
    /// [`Error::ContextLost`](crate::Error::ContextLost) or what the driver returns.
    pub fn best_block(&self, shared_bytes: u32) -> Result<BestBlock> {
        self.best_block_of(u32::MAX, |_| shared_bytes)
    }

    /// The same among blocks of `most_threads` at most, when the dynamic shared memory of a block
    /// depends on its threads: `shared_bytes` says for a number of threads how many bytes.
    ///
    /// This is what `cuOccupancyMaxPotentialBlockSize` finds, which can be given a C function only:
    /// each multiple of the warp size, and the limit, is tried with
    /// [`active_blocks`](Self::active_blocks).
    ///
    /// # Errors
    /// [`Error::ContextLost`](crate::Error::ContextLost) or what the driver returns.
    pub fn best_block_of(
        &self,
        most_threads: u32,
        mut shared_bytes: impl FnMut(u32) -> u32,
    ) -> Result<BestBlock> {
        let device = self.context().device();
        let count = |attribute| {
            device
                .attribute(attribute)
                .map(|value| u32::try_from(value).unwrap_or(0))
        };
        let (warp, multiprocessors) = (
            count(Attribute::WarpSize)?.max(1),
            count(Attribute::MultiprocessorCount)?,
        );
        let mut best = BestBlock {
            threads: 0,
            grid: 0,
        };
        let mut most_at_once = 0;
        let mut threads = self.max_threads_per_block().min(most_threads);
        while threads > 0 {
            let blocks = self.active_blocks(threads, shared_bytes(threads))?;
            let at_once = u64::from(blocks) * u64::from(threads);
            if at_once > most_at_once {
                most_at_once = at_once;
                best = BestBlock {
                    threads,
                    grid: blocks.saturating_mul(multiprocessors),
                };
            }
            threads = (threads - 1) / warp * warp;
        }
        Ok(best)
    }

    /// How many clusters of this launch the device runs at once (`cuOccupancyMaxActiveClusters`);
    /// of an empty problem there are none, and a launch without clusters is asked about as one with
    /// clusters of one block.
    ///
    /// A device runs fewer blocks at once in clusters than [without](Self::active_blocks).
    ///
    /// # Errors
    /// The errors of the launch itself, [`Error::ContextLost`](crate::Error::ContextLost), or what
    /// the driver returns.
    #[doc(alias = "cuOccupancyMaxActiveClusters")]
    pub fn active_clusters(&self, config: LaunchConfig) -> Result<u32> {
        let Some(grid) = self.check(&config)? else {
            return Ok(0);
        };
        if config.get_cluster().is_some() {
            return self.clusters_at_once(&config, grid);
        }
        // Measured: the driver says 0 of a launch that does not name its clusters.
        self.clusters_at_once(&config.cluster([1; 3]), grid)
    }
}
