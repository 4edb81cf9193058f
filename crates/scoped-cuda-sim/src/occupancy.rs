//! What of a kernel fits a device: an H200's answers.

use super::attributes::{
    BLOCK_MAX, BLOCK_THREADS_MAX, GRID_MAX, MULTIPROCESSORS, SHARED_BYTES_RESERVED,
    SHARED_BYTES_TOTAL, THREADS_TOTAL, WARP,
};
use super::kernel::{Function, Shape};
use super::machine::Outcome;
use super::ptx::Entry;
use scoped_cuda_sys::CUresult;

/// What every simulated kernel uses: so few that they never matter.
pub(super) const REGISTERS: u32 = 32;
/// The most blocks that a multiprocessor runs at once.
const BLOCKS_AT_ONCE: u32 = 32;
/// The most blocks of a cluster: on every device that has clusters, and on this one.
const CLUSTER_MAX: [u32; 2] = [8, 16];

/// The most threads of a block of this kernel.
pub(super) fn max_threads(entry: &Entry) -> u32 {
    entry
        .max_threads
        .unwrap_or(BLOCK_THREADS_MAX)
        .min(BLOCK_THREADS_MAX)
}

/// The most blocks of a cluster of a launch, which may not have said another number already.
pub(super) fn max_cluster_of(function: &Function, shape: Shape) -> Outcome<u32> {
    if let Some(cluster) = shape.cluster {
        check_cluster(function, shape.grid, cluster)?;
    }
    Ok(max_cluster(function))
}

/// The most blocks of a cluster of this kernel.
fn max_cluster(function: &Function) -> u32 {
    CLUSTER_MAX[usize::from(function.allows_large_clusters)]
}

/// How many blocks of this kernel a multiprocessor runs at once.
pub(super) fn active_blocks(function: &Function, threads: u64, shared_bytes: u64) -> u32 {
    let is_possible = (1..=u64::from(max_threads(&function.entry))).contains(&threads)
        && shared_bytes <= u64::from(function.max_dynamic_shared);
    if !is_possible {
        return 0;
    }
    let threads = threads.next_multiple_of(u64::from(WARP));
    let by_threads = u64::from(THREADS_TOTAL) / threads;
    let each = shared_bytes + fixed_shared(function);
    let by_shared = u64::from(SHARED_BYTES_TOTAL) / each;
    let blocks = by_threads.min(by_shared).min(u64::from(BLOCKS_AT_ONCE));
    u32::try_from(blocks).unwrap_or(0)
}

/// What a block costs of shared memory beside its dynamic one, in bytes.
fn fixed_shared(function: &Function) -> u64 {
    function.entry.shared_bytes as u64 + u64::from(SHARED_BYTES_RESERVED)
}

/// How many clusters of a launch the device runs at once. (A real one has fewer when clusters are
/// large: they do not straddle the groups that its multiprocessors are in.) Of blocks that are in
/// clusters a multiprocessor runs half as many at once (measured).
pub(super) fn active_clusters(function: &Function, shape: Shape) -> Outcome<u32> {
    let Some(cluster) = shape.cluster else {
        return Ok(0);
    };
    let blocks = check_cluster(function, shape.grid, cluster)?;
    let at_once = active_blocks(
        function,
        product(shape.block),
        u64::from(shape.shared_bytes),
    );
    Ok(at_once.div_ceil(2) * MULTIPROCESSORS / blocks)
}

/// Whether a launch is possible.
pub(super) fn check(function: &Function, shape: Shape) -> Outcome {
    let fits = |shape: [u32; 3], limits: [u32; 3]| {
        shape
            .iter()
            .zip(limits)
            .all(|(&n, limit)| (1..=limit).contains(&n))
    };
    let threads = product(shape.block);
    let is_possible = fits(shape.grid, GRID_MAX)
        && fits(shape.block, BLOCK_MAX)
        && threads <= u64::from(max_threads(&function.entry))
        && shape.shared_bytes <= function.max_dynamic_shared;
    if !is_possible {
        return Err(CUresult::INVALID_VALUE);
    }
    if let Some(cluster) = shape.cluster {
        check_cluster(function, shape.grid, cluster)?;
    }
    let at_once = active_blocks(function, threads, u64::from(shape.shared_bytes));
    let limit = u64::from(at_once) * u64::from(MULTIPROCESSORS);
    if shape.is_cooperative && product(shape.grid) > limit {
        return Err(CUresult::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// The blocks of a cluster, if there can be such.
fn check_cluster(function: &Function, grid: [u32; 3], cluster: [u32; 3]) -> Outcome<u32> {
    let divides = |(&blocks, &of): (&u32, &u32)| of > 0 && blocks % of == 0;
    let blocks = product(cluster);
    let is_possible =
        grid.iter().zip(&cluster).all(divides) && blocks <= u64::from(max_cluster(function));
    match u32::try_from(blocks) {
        Ok(blocks) if is_possible => Ok(blocks),
        _ => Err(CUresult::INVALID_CLUSTER_SIZE),
    }
}

fn product(dimensions: [u32; 3]) -> u64 {
    dimensions
        .iter()
        .fold(1, |product, &n| product.saturating_mul(u64::from(n)))
}
