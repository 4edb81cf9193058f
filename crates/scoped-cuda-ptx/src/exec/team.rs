//! The blocks of a cluster, or a single block, and their warps.

use super::grid::Grid;
use super::warp::{Pause, State, Warp};
use super::worker::Store;
use crate::check::{Class, Finding};
use crate::memory::Region;
use crate::program::op::{Place, Reduction};
use std::sync::Arc;

/// A barrier of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    /// Threads that have come.
    pub(crate) arrived: u32,
    /// Threads that must come, when the instruction says so.
    pub(crate) expected: Option<u32>,
    /// Threads whose predicate holds, and those that were asked.
    pub(crate) holds: u32,
    pub(crate) asked: u32,
}

/// What the warps of a block share.
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    /// The number of its first warp within the launch.
    pub(crate) first_warp: u64,
    pub(crate) shared: Arc<Region>,
    /// Tells this block from others that used the same shared memory.
    pub(crate) epoch: u32,
    pub(crate) barriers: [Barrier; 16],
    pub(crate) exited: u32,
}

/// A barrier of a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterPhase {
    pub(crate) arrived: u32,
    pub(crate) phase: u32,
}

/// Blocks that run together.
pub(crate) struct Team {
    pub(crate) blocks: Vec<Block>,
    pub(crate) cluster: ClusterPhase,
    pub(crate) warps: Vec<Warp>,
}

/// How a turn of a team ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Done,
    /// Its warps have used up their time.
    Yielded,
}

impl Team {
    pub(crate) fn new(grid: &Grid<'_>, number: u64, store: &mut Store) -> Self {
        let mut team = Self {
            blocks: Vec::new(),
            cluster: ClusterPhase::default(),
            warps: Vec::new(),
        };
        for rank in 0..grid.cluster_size {
            let block = number * u64::from(grid.cluster_size) + u64::from(rank);
            let (shared, epoch) = (store.shared(grid), grid.new_epoch());
            shared.cells().start(epoch);
            team.blocks.push(Block {
                index: grid.block_index(number, rank),
                first_warp: block * u64::from(grid.warps),
                shared,
                epoch,
                barriers: [Barrier::default(); 16],
                exited: 0,
            });
            for warp in 0..grid.warps {
                team.warps.push(Warp::new(grid, store, rank, warp));
            }
        }
        team
    }

    /// Lets every warp run until it waits or has used its time.
    pub(crate) fn turn(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
    ) -> Result<Turn, Box<Finding>> {
        loop {
            let (mut is_done, mut has_run, mut is_tired) = (true, false, false);
            for n in 0..self.warps.len() {
                if grid.is_stopped() {
                    return Ok(Turn::Done);
                }
                let Some(warp) = self.warps.get_mut(n).filter(|warp| warp.alive != 0) else {
                    continue;
                };
                is_done = false;
                if !warp.can_run(self.cluster.phase) {
                    continue;
                }
                has_run = true;
                let pause = warp.run(grid, store, &mut self.blocks, &mut self.cluster)?;
                is_tired |= pause == Pause::Tired;
                self.release(grid);
            }
            if is_done {
                return Ok(Turn::Done);
            }
            if !has_run {
                return Err(self.stuck(grid));
            }
            if is_tired {
                return Ok(Turn::Yielded);
            }
        }
    }

    /// Opens every barrier to which all have come.
    fn release(&mut self, grid: &Grid<'_>) {
        let all = grid.threads * grid.cluster_size;
        let exited: u32 = self.blocks.iter().map(|block| block.exited).sum();
        if self.cluster.arrived > 0 && self.cluster.arrived + exited >= all {
            self.cluster.arrived = 0;
            self.cluster.phase += 1;
        }
        for rank in 0..self.blocks.len() {
            for number in 0..16 {
                self.release_one(grid, rank, number);
            }
        }
    }

    fn release_one(&mut self, grid: &Grid<'_>, rank: usize, number: usize) {
        let Some(block) = self.blocks.get_mut(rank) else {
            return;
        };
        let exited = block.exited;
        let Some(barrier) = block
            .barriers
            .get_mut(number)
            .filter(|barrier| barrier.arrived > 0)
        else {
            return;
        };
        let is_open = match barrier.expected {
            Some(expected) => barrier.arrived >= expected,
            None => barrier.arrived + exited >= grid.threads,
        };
        if !is_open {
            return;
        }
        let was = std::mem::take(barrier);
        let waits = |warp: &&mut Warp| warp.block as usize == rank;
        // What the warps knew, all know from here on.
        let mut clocks = vec![0; grid.warps as usize];
        let mut has_acquired = false;
        let came = |warp: &Warp| warp.came_to == Some(number) || warp.is_at(number);
        for warp in self
            .warps
            .iter_mut()
            .filter(waits)
            .filter(|warp| came(warp))
        {
            warp.tick();
            has_acquired |= warp.has_acquired;
            for (clock, known) in clocks.iter_mut().zip(&warp.clocks) {
                *clock = u32::max(*clock, *known);
            }
        }
        for warp in self
            .warps
            .iter_mut()
            .filter(waits)
            .filter(|warp| came(warp))
        {
            warp.came_to = None;
            if !warp.is_at(number) {
                continue;
            }
            for (known, clock) in warp.clocks.iter_mut().zip(&clocks) {
                *known = u32::max(*known, *clock);
            }
            warp.has_acquired |= has_acquired;
            warp.wake(number, |how| result(how, was));
        }
    }

    /// Nobody can run: somebody waits for those that do not come.
    fn stuck(&self, grid: &Grid<'_>) -> Box<Finding> {
        for warp in &self.warps {
            for group in &warp.groups {
                if group.state != State::Ready {
                    let class = Class::BarrierDivergence;
                    return warp.finding_at(grid, &self.blocks, group, class);
                }
            }
        }
        let warp = self.warps.first();
        match warp.and_then(|warp| warp.groups.first().map(|group| (warp, group))) {
            Some((warp, group)) => warp.finding_at(grid, &self.blocks, group, Class::NoProgress),
            None => Warp::default().finding_at(
                grid,
                &self.blocks,
                &Default::default(),
                Class::NoProgress,
            ),
        }
    }
}

/// What `bar.red` gives.
fn result((how, place): (Reduction, Place), barrier: Barrier) -> (Place, u32) {
    let value = match how {
        Reduction::Popc => barrier.holds,
        Reduction::And if barrier.holds == barrier.asked => !0,
        Reduction::Or if barrier.holds > 0 => !0,
        _ => 0,
    };
    (place, value)
}
