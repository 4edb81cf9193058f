//! The shape of a launch.

use super::limits::Limits;
use crate::error::{Error, LaunchField, Result};
use crate::internal::context_state::LaunchLimits;

/// How many threads run a kernel and how: a grid of blocks of threads, the shared memory of a
/// block, and what is special about the launch.
///
/// Nothing is checked when it is made; a launch checks it against the limits of the device and of
/// the kernel, so the error can name field, value and limit ([`Error::BadLaunch`]).
///
/// ```
/// use scoped_cuda::LaunchConfig;
///
/// let one_thread_an_element = LaunchConfig::for_elements(1_000_000);
/// assert_eq!(one_thread_an_element.grid(), [3907, 1, 1]);
/// let tiles = LaunchConfig::new([64, 64, 1], [16, 16, 1]).dynamic_shared_bytes(2048);
/// assert_eq!((tiles.block(), tiles.threads()), ([16, 16, 1], 64 * 64 * 256));
/// let together = LaunchConfig::new([132, 1, 1], [256, 1, 1]).cooperative();
/// assert!(together.is_cooperative());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchConfig {
    /// 64 bits, so that a number of elements never wraps on the way to the check.
    grid: [u64; 3],
    block: [u32; 3],
    shared_bytes: u32,
    is_empty: bool,
    is_cooperative: bool,
    overlaps_previous: bool,
    cluster: Option<[u32; 3]>,
    priority: Option<i32>,
}

impl LaunchConfig {
    /// Threads in a block of [`for_elements`](Self::for_elements): a multiple of the warp size that
    /// every device allows.
    pub const THREADS_PER_BLOCK: u32 = 256;

    /// At least one thread for each of `elements`, in blocks of
    /// [`THREADS_PER_BLOCK`](Self::THREADS_PER_BLOCK) along x.
    ///
    /// The last block may have threads to spare, so the kernel compares its index with the number
    /// of elements. 0 elements are an empty problem: its launch does nothing and succeeds.
    #[must_use]
    #[doc(alias = "for_num_elems")]
    pub const fn for_elements(elements: usize) -> Self {
        Self::for_elements_in_blocks(elements, Self::THREADS_PER_BLOCK)
    }

    /// The same in blocks of `threads` along x, [the best number](crate::Kernel::best_block) for a
    /// kernel, say.
    #[must_use]
    pub const fn for_elements_in_blocks(elements: usize, threads: u32) -> Self {
        // Blocks without threads are what the launch refuses.
        let blocks = match threads {
            0 => 1,
            _ => elements.div_ceil(threads as usize) as u64,
        };
        Self {
            grid: [blocks, 1, 1],
            is_empty: elements == 0,
            ..Self::new([1; 3], [threads, 1, 1])
        }
    }

    /// `grid` blocks of `block` threads, each as x, y and z. All of them are at least 1.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid: [grid[0] as u64, grid[1] as u64, grid[2] as u64],
            block,
            shared_bytes: 0,
            is_empty: false,
            is_cooperative: false,
            overlaps_previous: false,
            cluster: None,
            priority: None,
        }
    }

    /// The same with `bytes` of dynamic shared memory for each block.
    ///
    /// More than the kernel has by default, 48 KiB less its static shared memory, it has to be
    /// allowed first:
    /// [`Kernel::set_max_dynamic_shared_bytes`](crate::Kernel::set_max_dynamic_shared_bytes).
    #[must_use]
    pub const fn dynamic_shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// The same as a cooperative launch: all blocks run at once, so that they may wait for each
    /// other (`cooperative_groups::this_grid().sync()`).
    ///
    /// The grid is limited to the blocks that the device runs at once:
    /// [`Kernel::active_blocks`](crate::Kernel::active_blocks) times its multiprocessors.
    #[must_use]
    pub const fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }

    /// The same in clusters of `blocks` along x, y and z, which run at once and share memory
    /// (compute capability 9.0 or newer).
    ///
    /// They divide the grid evenly. 8 blocks are what every such device supports; for more the
    /// kernel has to be [allowed](crate::Kernel::allow_large_clusters).
    #[must_use]
    pub const fn cluster(mut self, blocks: [u32; 3]) -> Self {
        self.cluster = Some(blocks);
        self
    }

    /// The same with a priority of its own instead of the stream's: one of
    /// [`Context::stream_priorities`](crate::Context::stream_priorities).
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// The same as a programmatic dependent launch: it may begin before the launch ahead of it on
    /// the stream has ended (`CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`; compute
    /// capability 9.0 or newer).
    ///
    /// The kernel itself waits, with `cudaGridDependencySynchronize()`, before it touches memory:
    /// see the safety section of [`launch`](crate::ScopedStream::launch). The launch of a
    /// [`SafeKernel`](crate::SafeKernel) refuses it.
    #[must_use]
    pub const fn overlapping_previous(mut self) -> Self {
        self.overlaps_previous = true;
        self
    }

    /// Blocks along x, y and z.
    #[must_use]
    pub const fn grid(&self) -> [u64; 3] {
        self.grid
    }

    /// Threads of a block along x, y and z.
    #[must_use]
    pub const fn block(&self) -> [u32; 3] {
        self.block
    }

    /// Threads of a block.
    #[must_use]
    pub const fn threads_per_block(&self) -> u64 {
        let [x, y, z] = self.block;
        (x as u64).saturating_mul(y as u64).saturating_mul(z as u64)
    }

    /// Blocks of the grid.
    #[must_use]
    pub const fn blocks(&self) -> u64 {
        let [x, y, z] = self.grid;
        x.saturating_mul(y).saturating_mul(z)
    }

    /// Threads of the grid; `u64::MAX` when there are more.
    #[must_use]
    pub const fn threads(&self) -> u64 {
        self.blocks().saturating_mul(self.threads_per_block())
    }

    /// Whether this is the launch of an empty problem.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Dynamic shared memory of a block in bytes.
    #[must_use]
    pub const fn get_dynamic_shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Whether all blocks run at once.
    #[must_use]
    pub const fn is_cooperative(&self) -> bool {
        self.is_cooperative
    }

    /// Blocks of a cluster along x, y and z, when the configuration says so.
    #[must_use]
    pub const fn get_cluster(&self) -> Option<[u32; 3]> {
        self.cluster
    }

    /// The priority, when it is not the stream's.
    #[must_use]
    pub const fn get_priority(&self) -> Option<i32> {
        self.priority
    }

    /// Whether the launch may begin before the one ahead of it has ended.
    #[must_use]
    pub const fn overlaps_previous(&self) -> bool {
        self.overlaps_previous
    }

    pub(super) const fn without_cluster(mut self) -> Self {
        self.cluster = None;
        self
    }

    /// Whether it is nothing but a grid.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        !self.is_cooperative
            && !self.overlaps_previous
            && self.cluster.is_none()
            && self.priority.is_none()
    }

    /// The grid as the driver takes it, if the limits of device and kernel allow this shape (claim
    /// C9).
    #[inline]
    pub(super) fn check(&self, device: &LaunchLimits, kernel: &Limits) -> Result<[u32; 3]> {
        let mut grid = [0; 3];
        for (axis, blocks) in grid.iter_mut().enumerate() {
            *blocks = within(LaunchField::GRID[axis], self.grid[axis], device.grid[axis])?;
            let threads = u64::from(self.block[axis]);
            within(LaunchField::BLOCK[axis], threads, device.block[axis])?;
        }
        within(
            LaunchField::ThreadsPerBlock,
            self.threads_per_block(),
            device.threads_per_block.min(kernel.threads_per_block()),
        )?;
        let limit = kernel.shared_bytes();
        if self.shared_bytes > limit {
            return Err(Error::BadLaunch {
                field: LaunchField::SharedBytes,
                value: u64::from(self.shared_bytes),
                limit: u64::from(limit),
            });
        }
        Ok(grid)
    }
}

#[inline]
pub(super) fn within(field: LaunchField, value: u64, limit: u32) -> Result<u32> {
    match u32::try_from(value) {
        Ok(small) if (1..=limit).contains(&small) => Ok(small),
        _ => Err(Error::BadLaunch {
            field,
            value,
            limit: u64::from(limit),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: LaunchLimits = LaunchLimits {
        grid: [2_147_483_647, 65_535, 65_535],
        block: [1024, 1024, 64],
        threads_per_block: 1024,
    };

    fn limits(threads: u32) -> Limits {
        Limits::new(threads, 49_152)
    }

    fn refused(config: LaunchConfig) -> (LaunchField, u64, u64) {
        match config.check(&LIMITS, &limits(1024)) {
            Err(Error::BadLaunch {
                field,
                value,
                limit,
            }) => (field, value, limit),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fitting_shape_passes() {
        let config = LaunchConfig::new([7, 5, 3], [16, 8, 8]).dynamic_shared_bytes(49_152);
        assert_eq!(config.check(&LIMITS, &limits(1024)), Ok([7, 5, 3]));
        assert_eq!(
            LaunchConfig::for_elements(257).check(&LIMITS, &limits(1024)),
            Ok([2, 1, 1])
        );
    }

    #[test]
    fn error_names_field_value_and_limit() {
        let shape = |grid, block| refused(LaunchConfig::new(grid, block));
        assert_eq!(
            shape([0, 1, 1], [1, 1, 1]),
            (LaunchField::GridX, 0, 2_147_483_647)
        );
        assert_eq!(
            shape([1, 65_536, 1], [1, 1, 1]),
            (LaunchField::GridY, 65_536, 65_535)
        );
        assert_eq!(
            shape([1, 1, 70_000], [1, 1, 1]),
            (LaunchField::GridZ, 70_000, 65_535)
        );
        assert_eq!(shape([1, 1, 1], [0, 1, 1]), (LaunchField::BlockX, 0, 1024));
        assert_eq!(
            shape([1, 1, 1], [1, 1025, 1]),
            (LaunchField::BlockY, 1025, 1024)
        );
        assert_eq!(shape([1, 1, 1], [1, 1, 65]), (LaunchField::BlockZ, 65, 64));
        assert_eq!(
            shape([1, 1, 1], [64, 32, 1]),
            (LaunchField::ThreadsPerBlock, 2048, 1024)
        );
        let shared = LaunchConfig::new([1; 3], [1; 3]).dynamic_shared_bytes(49_153);
        assert_eq!(refused(shared), (LaunchField::SharedBytes, 49_153, 49_152));
    }

    #[test]
    fn number_of_elements_never_wraps() {
        let blocks = (usize::MAX as u64).div_ceil(256);
        assert_eq!(
            refused(LaunchConfig::for_elements(usize::MAX)),
            (LaunchField::GridX, blocks, 2_147_483_647)
        );
    }

    #[test]
    fn elements_in_blocks_of_any_size() {
        let config = LaunchConfig::for_elements_in_blocks(1000, 96);
        assert_eq!((config.grid(), config.block()), ([11, 1, 1], [96, 1, 1]));
        let no_threads = LaunchConfig::for_elements_in_blocks(1000, 0);
        assert_eq!(refused(no_threads), (LaunchField::BlockX, 0, 1024));
        assert!(LaunchConfig::for_elements_in_blocks(0, 96).is_empty());
        let huge = LaunchConfig::new([u32::MAX; 3], [u32::MAX; 3]);
        assert_eq!(huge.threads(), u64::MAX, "and not what is left of it");
    }

    #[test]
    fn kernel_with_fewer_threads_lowers_the_limit() {
        let error = LaunchConfig::new([1; 3], [256, 1, 1])
            .check(&LIMITS, &limits(128))
            .unwrap_err();
        assert_eq!(
            error,
            Error::BadLaunch {
                field: LaunchField::ThreadsPerBlock,
                value: 256,
                limit: 128
            }
        );
    }
}
