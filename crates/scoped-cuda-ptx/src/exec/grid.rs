//! What all blocks of a launch have in common.

use super::launch::{Options, Shape};
use crate::check::{Class, Finding, Thread};
use crate::memory::{Memory, Region, Tag};
use crate::program::{Function, Kernel, Module};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most shared memory of a block, in bytes.
const SHARED_MAX: u64 = 228 << 10;
/// Where the workspace of a cooperative launch is. No allocation of the host's lies there.
pub(crate) const WORKSPACE: u64 = 0xB000_0000_0000_0000;
/// Warps whose releases are kept apart.
const RELEASED_MAX: u64 = 1 << 20;

/// A launch in progress.
pub(crate) struct Grid<'a> {
    pub(crate) module: &'a Module,
    pub(crate) kernel: Kernel<'a>,
    pub(crate) entry: usize,
    pub(crate) shape: Shape,
    pub(crate) parameters: &'a [u8],
    pub(crate) variables: &'a [u64],
    pub(crate) memory: &'a dyn Memory,
    pub(crate) options: &'a Options<'a>,
    /// Where each shared variable begins.
    pub(crate) shared_places: Vec<Option<u32>>,
    /// The shared memory of a block in bytes.
    pub(crate) shared_bytes: u32,
    /// Threads and warps of a block, blocks of a cluster.
    pub(crate) threads: u32,
    pub(crate) warps: u32,
    pub(crate) cluster_size: u32,
    /// Clusters, which are single blocks when there are none.
    pub(crate) teams: u64,
    pub(crate) next_team: AtomicU64,
    /// Tells this launch from others in the memory's cells.
    pub(crate) epoch: u32,
    /// Up to which clock each warp's accesses were released to other blocks.
    released: Vec<AtomicU32>,
    pub(crate) steps: AtomicU64,
    /// What cooperative groups count in.
    workspace: Region,
    pub(crate) start: Instant,
    stop: AtomicBool,
    finding: Mutex<Option<Box<Finding>>>,
}

static EPOCHS: AtomicU32 = AtomicU32::new(1);

impl<'a> Grid<'a> {
    pub(crate) fn new(
        kernel: Kernel<'a>,
        shape: &Shape,
        parameters: &'a [u8],
        variables: &'a [u64],
        memory: &'a dyn Memory,
        options: &'a Options<'a>,
    ) -> Result<Self, Box<Finding>> {
        let wrong = |text: String| {
            Box::new(Finding {
                class: Class::BadLaunch(text),
                kernel: kernel.name().to_owned(),
                function: None,
                source: None,
                line: kernel.line(),
                thread: Thread::default(),
                access: None,
                address: None,
                nearest: None,
            })
        };
        let product = |extents: [u32; 3]| {
            extents
                .iter()
                .map(|extent| u128::from(*extent))
                .product::<u128>()
        };
        let (blocks, threads) = (product(shape.grid), product(shape.block));
        let cluster = product(shape.cluster);
        if blocks == 0 || blocks > 1 << 62 {
            return Err(wrong(format!("the grid has {blocks} blocks")));
        }
        if threads == 0 || threads > 1024 {
            return Err(wrong(format!(
                "a block has {threads} threads, between 1 and 1024 are allowed"
            )));
        }
        let fits = shape
            .grid
            .iter()
            .zip(shape.cluster)
            .all(|(all, one)| one != 0 && all % one == 0);
        if !fits || cluster > 16 {
            return Err(wrong(
                "the grid is not a whole number of clusters".to_owned(),
            ));
        }
        let together = u128::from(options.multiprocessors) * 32;
        if shape.is_cooperative && blocks > together {
            return Err(wrong(format!(
                "{blocks} blocks cannot run together, {together} can"
            )));
        }
        let needed = kernel.parameter_bytes() as usize;
        if parameters.len() < needed {
            let given = parameters.len();
            return Err(wrong(format!(
                "{given} bytes of parameters are given, {needed} are needed"
            )));
        }
        if variables.len() < kernel.module.variables().len() {
            return Err(wrong(
                "addresses of the module's variables are missing".to_owned(),
            ));
        }
        let (shared_places, shared_static) = kernel.shared_layout();
        let dynamic = shared_places
            .iter()
            .flatten()
            .copied()
            .max()
            .unwrap_or(0)
            .max(shared_static);
        let shared = u64::from(dynamic) + u64::from(shape.dynamic_shared);
        if shared > SHARED_MAX {
            return Err(wrong(format!(
                "{shared} bytes of shared memory, {SHARED_MAX} are allowed"
            )));
        }
        let warps = (threads as u32).div_ceil(32);
        let all_warps = (blocks as u64).saturating_mul(warps.into());
        Ok(Self {
            module: kernel.module,
            kernel,
            entry: kernel.index,
            shape: *shape,
            parameters,
            variables,
            memory,
            options,
            shared_places,
            shared_bytes: shared as u32,
            threads: threads as u32,
            warps,
            cluster_size: cluster as u32,
            teams: (blocks / cluster) as u64,
            next_team: AtomicU64::new(0),
            epoch: EPOCHS.fetch_add(1, Ordering::Relaxed),
            released: (0..all_warps.min(RELEASED_MAX))
                .map(|_| AtomicU32::new(0))
                .collect(),
            steps: AtomicU64::new(0),
            workspace: workspace(shape.is_cooperative),
            start: Instant::now(),
            stop: AtomicBool::new(false),
            finding: Mutex::new(None),
        })
    }

    /// The workspace of a cooperative launch, if the address lies in it.
    #[inline(always)]
    pub(crate) fn workspace_of(&self, address: u64) -> Option<&Region> {
        let is_there = address.wrapping_sub(WORKSPACE) < self.workspace.bytes();
        is_there.then_some(&self.workspace)
    }

    /// Whether an address lies in a variable in constant memory.
    pub(crate) fn is_constant(&self, address: u64) -> bool {
        let variables = self.module.variables().iter().zip(self.variables);
        let mut constants = variables.filter(|(variable, _)| variable.is_constant);
        constants.any(|(variable, base)| address.wrapping_sub(*base) < variable.bytes)
    }

    /// The address that `%envreg1` and `%envreg2` tell.
    pub(crate) fn workspace(&self) -> u64 {
        if self.shape.is_cooperative {
            WORKSPACE
        } else {
            0
        }
    }

    pub(crate) fn function(&self, index: usize) -> Option<&'a Function> {
        self.module.functions.get(index)
    }

    /// Another epoch, for the cells of a block's shared memory.
    pub(crate) fn new_epoch(&self) -> u32 {
        EPOCHS.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the launch with a finding. The first one stays.
    pub(crate) fn stop(&self, finding: Box<Finding>) {
        let mut first = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(finding);
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn outcome(self) -> Result<(), Box<Finding>> {
        let finding = self
            .finding
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        finding.map_or(Ok(()), Err)
    }

    /// Notes that what a warp did before a clock may be seen by other blocks.
    pub(crate) fn release(&self, warp: u32, clock: u32) {
        if let Some(released) = self.released.get(warp as usize) {
            released.fetch_max(clock, Ordering::Relaxed);
        }
    }

    /// Whether an access was released to other blocks.
    pub(crate) fn is_released(&self, access: Tag) -> bool {
        let released = self.released.get(access.warp() as usize);
        released.is_none_or(|clock| clock.load(Ordering::Relaxed) > access.clock())
    }

    /// The coordinates of a block by its number within its team.
    pub(crate) fn block_index(&self, team: u64, rank: u32) -> [u32; 3] {
        let cluster = self.shape.cluster;
        let across =
            [0, 1].map(|axis| u64::from(self.shape.grid[axis] / cluster[axis].max(1)).max(1));
        let of_team = [
            team % across[0],
            team / across[0] % across[1],
            team / across[0] / across[1],
        ];
        let [x, y, z] = self.rank_index(rank);
        [
            of_team[0] as u32 * cluster[0] + x,
            of_team[1] as u32 * cluster[1] + y,
            of_team[2] as u32 * cluster[2] + z,
        ]
    }

    /// The coordinates of a block within its cluster.
    pub(crate) fn rank_index(&self, rank: u32) -> [u32; 3] {
        split(rank, self.shape.cluster)
    }

    /// The coordinates of a thread within its block.
    pub(crate) fn thread_index(&self, thread: u32) -> [u32; 3] {
        split(thread, self.shape.block)
    }
}

fn workspace(is_cooperative: bool) -> Region {
    let bytes = if is_cooperative { 64 } else { 0 };
    let region = Region::owned(WORKSPACE, bytes, 0, "the launch's workspace");
    region.set_initialised(0..bytes);
    region
}

fn split(number: u32, extents: [u32; 3]) -> [u32; 3] {
    let (x, y) = (extents[0].max(1), extents[1].max(1));
    [number % x, number / x % y, number / x / y]
}
