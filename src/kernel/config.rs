//! The shape of a launch.

use crate::context::LaunchLimits;
use crate::error::{Error, LaunchField, Result};

/// How many threads run a kernel: a grid of blocks of threads, and the shared memory of a block.
///
/// Nothing is checked when it is made; a launch checks it against the limits of the device and of the kernel, so the error can name
/// field, value and limit ([`Error::BadLaunch`]).
///
/// ```
/// use scoped_cuda::LaunchConfig;
///
/// let one_thread_an_element = LaunchConfig::for_elements(1_000_000);
/// assert_eq!(one_thread_an_element.grid(), [3907, 1, 1]);
/// let tiles = LaunchConfig::new([64, 64, 1], [16, 16, 1]).dynamic_shared_bytes(2048);
/// assert_eq!(tiles.block(), [16, 16, 1]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchConfig {
    /// 64 bits, so that a number of elements never wraps on the way to the check.
    grid: [u64; 3],
    block: [u32; 3],
    shared_bytes: u32,
    is_empty: bool,
}

impl LaunchConfig {
    /// Threads in a block of [`for_elements`](Self::for_elements): a multiple of the warp size that every device allows.
    pub const THREADS_PER_BLOCK: u32 = 256;

    /// At least one thread for each of `elements`, in blocks of [`THREADS_PER_BLOCK`](Self::THREADS_PER_BLOCK) along x.
    ///
    /// The last block may have threads to spare, so the kernel compares its index with the number of elements. 0 elements are an empty
    /// problem: its launch does nothing and succeeds.
    #[must_use]
    pub const fn for_elements(elements: usize) -> Self {
        let blocks = elements.div_ceil(Self::THREADS_PER_BLOCK as usize) as u64;
        Self {
            grid: [blocks, 1, 1],
            block: [Self::THREADS_PER_BLOCK, 1, 1],
            shared_bytes: 0,
            is_empty: elements == 0,
        }
    }

    /// `grid` blocks of `block` threads, each as x, y and z. All of them are at least 1.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        let grid = [grid[0] as u64, grid[1] as u64, grid[2] as u64];
        Self {
            grid,
            block,
            shared_bytes: 0,
            is_empty: false,
        }
    }

    /// The same with `bytes` of dynamic shared memory for each block.
    #[must_use]
    pub const fn dynamic_shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Blocks along x, y and z.
    #[must_use]
    pub const fn grid(self) -> [u64; 3] {
        self.grid
    }

    /// Threads of a block along x, y and z.
    #[must_use]
    pub const fn block(self) -> [u32; 3] {
        self.block
    }

    /// Whether this is the launch of an empty problem.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.is_empty
    }

    /// Dynamic shared memory of a block in bytes.
    #[must_use]
    pub const fn shared_bytes(self) -> u32 {
        self.shared_bytes
    }

    /// The grid as the driver takes it, if `limits` and the kernel's own limit of threads allow this shape (claim C9).
    #[inline]
    pub(crate) fn check(&self, limits: &LaunchLimits, threads_of_kernel: u32) -> Result<[u32; 3]> {
        const GRID: [LaunchField; 3] = [LaunchField::GridX, LaunchField::GridY, LaunchField::GridZ];
        const BLOCK: [LaunchField; 3] = [
            LaunchField::BlockX,
            LaunchField::BlockY,
            LaunchField::BlockZ,
        ];
        let mut grid = [0; 3];
        for axis in 0..3 {
            let (value, limit) = (self.grid[axis], limits.grid[axis]);
            grid[axis] = within(GRID[axis], value, limit)?;
            within(BLOCK[axis], u64::from(self.block[axis]), limits.block[axis])?;
        }
        let threads = self
            .block
            .iter()
            .map(|&n| u64::from(n))
            .fold(1, u64::saturating_mul);
        within(
            LaunchField::ThreadsPerBlock,
            threads,
            limits.threads_per_block.min(threads_of_kernel),
        )?;
        if self.shared_bytes > limits.shared_bytes {
            let (value, limit) = (u64::from(self.shared_bytes), u64::from(limits.shared_bytes));
            return Err(Error::BadLaunch {
                field: LaunchField::SharedBytes,
                value,
                limit,
            });
        }
        Ok(grid)
    }
}

#[inline]
fn within(field: LaunchField, value: u64, limit: u32) -> Result<u32> {
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
        shared_bytes: 49_152,
    };

    fn refused(config: LaunchConfig) -> (LaunchField, u64, u64) {
        match config.check(&LIMITS, 1024) {
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
        assert_eq!(config.check(&LIMITS, 1024), Ok([7, 5, 3]));
        assert_eq!(
            LaunchConfig::for_elements(257).check(&LIMITS, 1024),
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
    fn kernel_with_fewer_threads_lowers_the_limit() {
        let error = LaunchConfig::new([1; 3], [256, 1, 1])
            .check(&LIMITS, 128)
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
