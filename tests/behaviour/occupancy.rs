//! How much of a device a kernel fills.

use crate::common::in_context;
use crate::common::launches::PTX;
use scoped_cuda::kernel::BestBlock;
use scoped_cuda::{Attribute, Context, Error, Kernel, LaunchConfig, Out, Result};

fn bounded(ctx: Context<'_>) -> Result<Kernel<'_, (Out<u32>,)>> {
    ctx.load_ptx(PTX)?.kernel("bounded")
}

fn static_shared(ctx: Context<'_>) -> Result<Kernel<'_, (Out<u32>,)>> {
    ctx.load_ptx(PTX)?.kernel("static_shared")
}

fn count(ctx: Context<'_>, attribute: Attribute) -> Result<u32> {
    Ok(ctx.device().attribute(attribute)? as u32)
}

#[test]
fn blocks_at_once_are_limited_by_threads_and_by_shared_memory() {
    in_context(|ctx| {
        let kernel = static_shared(ctx)?;
        let threads = count(ctx, Attribute::MaxThreadsPerMultiprocessor)?;
        let shared = count(ctx, Attribute::MaxSharedMemoryPerMultiprocessor)?;
        let reserved = count(ctx, Attribute::ReservedSharedMemoryPerBlock)?;
        assert_eq!(kernel.active_blocks(512, 0)?, threads / 512);
        let each = 8192 + 32_768 + reserved;
        assert_eq!(kernel.active_blocks(64, 32_768)?, shared / each);
        assert_eq!(
            kernel.active_blocks(64, 49_152)?,
            0,
            "more than the kernel may have"
        );
        assert_eq!(kernel.active_blocks(1025, 0)?, 0, "no such block");
        assert_eq!(kernel.active_blocks(u32::MAX, 0)?, 0);
        let error = kernel.active_blocks(0, 0).unwrap_err();
        assert!(
            matches!(error, Error::Driver(error) if error.name() == "CUDA_ERROR_INVALID_VALUE")
        );
        Ok(())
    });
}

#[test]
fn best_block_keeps_most_threads_on_the_device() {
    in_context(|ctx| {
        let multiprocessors = count(ctx, Attribute::MultiprocessorCount)?;
        let at_once = count(ctx, Attribute::MaxThreadsPerMultiprocessor)?;
        let kernel = static_shared(ctx)?;
        let best = kernel.best_block(0)?;
        assert_eq!(
            best.threads * best.grid,
            at_once * multiprocessors,
            "all there are"
        );
        assert_eq!(best.threads, 1024, "of equally good ones the largest");
        let of_warps = kernel.best_block_of(100, |_| 0)?;
        assert!(of_warps.threads == 64 || of_warps.threads == 96 || of_warps.threads == 100);
        assert_eq!(of_warps.grid % multiprocessors, 0);
        assert_eq!(bounded(ctx)?.best_block(0)?.threads, 64);
        Ok(())
    });
}

/// The dynamic shared memory of a block may depend on its threads.
#[test]
fn best_block_is_told_the_shared_memory_of_each_size() {
    in_context(|ctx| {
        let kernel = static_shared(ctx)?;
        let mut asked = Vec::new();
        let best = kernel.best_block_of(1024, |threads| {
            asked.push(threads);
            threads * 160
        })?;
        assert_eq!(asked[0], 1024);
        assert!(asked.windows(2).all(|pair| pair[0] > pair[1]) && asked.contains(&256));
        let mut at_once = Vec::new();
        for threads in (32..=1024).step_by(32) {
            at_once.push((
                threads * kernel.active_blocks(threads, threads * 160)?,
                threads,
            ));
        }
        let (_, largest) = *at_once.iter().max().unwrap();
        assert_eq!(best.threads, largest);
        let blocks = kernel.active_blocks(best.threads, best.threads * 160)?;
        assert_eq!(
            best.grid,
            blocks * count(ctx, Attribute::MultiprocessorCount)?
        );
        let none = kernel.best_block_of(1024, |_| u32::MAX)?;
        assert_eq!(
            none,
            BestBlock {
                threads: 0,
                grid: 0
            }
        );
        assert_eq!(
            kernel.best_block_of(0, |_| 0)?,
            BestBlock {
                threads: 0,
                grid: 0
            }
        );
        Ok(())
    });
}

#[test]
fn clusters_at_once() {
    in_context(|ctx| {
        let kernel = ctx.load_ptx(PTX)?.kernel::<(Out<u32>,)>("clusters")?;
        let shape = LaunchConfig::new([64, 1, 1], [128, 1, 1]);
        let blocks = kernel.active_blocks(128, 0)? * count(ctx, Attribute::MultiprocessorCount)?;
        let of_one = kernel.active_clusters(shape)?;
        assert_eq!(kernel.active_clusters(shape.cluster([1; 3]))?, of_one);
        assert!((1..=blocks).contains(&of_one), "{of_one}");
        let of_two = kernel.active_clusters(shape.cluster([2, 1, 1]))?;
        assert!((1..=of_one / 2).contains(&of_two), "{of_two}");
        assert_eq!(kernel.active_clusters(LaunchConfig::for_elements(0))?, 0);
        let error = kernel
            .active_clusters(shape.cluster([3, 1, 1]))
            .unwrap_err();
        assert!(matches!(
            error,
            Error::UnevenClusters {
                blocks: 64,
                cluster: 3,
                ..
            }
        ));
        Ok(())
    });
}
