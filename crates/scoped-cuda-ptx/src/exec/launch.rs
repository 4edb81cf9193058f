//! A launch: its shape, its options, and the threads that carry it out.

use super::grid::Grid;
use super::worker::Worker;
use crate::check::Finding;
use crate::memory::Memory;
use crate::program::Kernel;
use std::ops::Range;

/// The shape of a launch, as a program gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared: u32,
    /// All blocks run at the same time, and may wait for each other.
    pub is_cooperative: bool,
}

impl Shape {
    /// Blocks and threads along x, without shared memory.
    pub fn linear(blocks: u32, threads: u32) -> Self {
        Self {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: [1, 1, 1],
            dynamic_shared: 0,
            is_cooperative: false,
        }
    }

    /// The same shape with dynamic shared memory, in bytes.
    #[must_use]
    pub fn with_shared(self, bytes: u32) -> Self {
        Self {
            dynamic_shared: bytes,
            ..self
        }
    }
}

/// How a launch is carried out.
pub struct Options<'o> {
    /// On how many threads of the host its blocks run.
    pub workers: usize,
    /// The stack of a thread in bytes: local variables of nested calls.
    pub stack_bytes: u32,
    /// How many steps all warps may make together. A kernel that makes more counts as one that
    /// never ends.
    pub steps_max: u64,
    /// Addresses that the launch may read and not write.
    pub read_only: &'o [Range<u64>],
    /// Takes what kernels print.
    pub print: &'o (dyn Fn(&str) + Sync),
    /// How many multiprocessors the device has, for `%nsmid`.
    pub multiprocessors: u32,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            workers: 1,
            stack_bytes: 64 << 10,
            steps_max: 1 << 33,
            read_only: &[],
            print: &|text| print!("{text}"),
            multiprocessors: 132,
        }
    }
}

/// Runs a kernel to its end.
///
/// `parameters` holds the parameters as the kernel's layout says, and `variables` the addresses of
/// the module's variables in the order of [`Module::variables`](crate::Module::variables). The
/// caller has asked [`Module::check_supported`](crate::Module::check_supported).
///
/// # Errors
/// A [`Finding`] is the first mistake that was found. The launch has ended there.
pub fn launch(
    kernel: Kernel<'_>,
    shape: &Shape,
    parameters: &[u8],
    variables: &[u64],
    memory: &dyn Memory,
    options: &Options<'_>,
) -> Result<(), Box<Finding>> {
    let grid = Grid::new(kernel, shape, parameters, variables, memory, options)?;
    let workers = options
        .workers
        .clamp(1, 256)
        .min(grid.teams.min(256) as usize);
    if workers <= 1 {
        Worker::new(&grid, 0, 1).run();
    } else {
        std::thread::scope(|scope| {
            for number in 0..workers {
                let grid = &grid;
                scope.spawn(move || Worker::new(grid, number, workers).run());
            }
        });
    }
    grid.outcome()
}
