//! A thread of the host that runs blocks.

use super::frame::{self, Frame};
use super::grid::Grid;
use super::lanes::Registers;
use super::team::{Team, Turn};
use super::warp::Warp;
use crate::memory::{Memory, Region};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Blocks that a worker begins before it has ended others, when those take long.
const LIVE_MAX: usize = 64;
/// Shared memory and frames that are kept for the next block.
const KEPT_MAX: usize = 256;

/// What a worker keeps between blocks.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) regions: Regions,
    shared: Vec<Arc<Region>>,
    /// For each function, registers as a frame finds them.
    templates: Vec<Option<Registers>>,
    frames: Vec<Vec<Frame>>,
    warps: Vec<Warp>,
    pub(crate) steps: u64,
}

impl Store {
    /// Shared memory of which no byte is written.
    pub(crate) fn shared(&mut self, grid: &Grid<'_>) -> Arc<Region> {
        let bytes = u64::from(grid.shared_bytes);
        match self.shared.pop() {
            Some(region) => {
                region.clear_initialised(0..bytes);
                region
            }
            None => Arc::new(Region::owned(0, bytes, 0xCD, "the block's shared memory")),
        }
    }

    /// A frame for a function, with what its registers hold from the start but for what differs by
    /// warp.
    pub(crate) fn frame(&mut self, grid: &Grid<'_>, function: usize) -> Frame {
        if self.templates.len() <= function {
            self.templates.resize_with(function + 1, || None);
            self.frames.resize_with(function + 1, Vec::new);
        }
        let kept = self.frames.get_mut(function).and_then(Vec::pop);
        let mut frame = kept.unwrap_or_default();
        if let Some(template) = self.templates.get_mut(function) {
            let template = template.get_or_insert_with(|| frame::template(grid, function));
            frame.reset(function, template);
        }
        frame
    }

    /// A warp without frames.
    pub(crate) fn warp(&mut self) -> Warp {
        self.warps.pop().unwrap_or_default()
    }

    pub(crate) fn keep_frame(&mut self, frame: Frame) {
        if let Some(frames) = self
            .frames
            .get_mut(frame.function)
            .filter(|kept| kept.len() < KEPT_MAX)
        {
            frames.push(frame);
        }
    }

    fn keep(&mut self, team: Team) {
        for block in team.blocks {
            if self.shared.len() < KEPT_MAX {
                self.shared.push(block.shared);
            }
        }
        for mut warp in team.warps {
            for frame in warp.frames.drain(..) {
                self.keep_frame(frame);
            }
            if self.warps.len() < KEPT_MAX {
                self.warps.push(warp);
            }
        }
    }
}

/// Allocations that were found, and which one each step found last.
#[derive(Default)]
pub(crate) struct Regions {
    found: Vec<Arc<Region>>,
    hints: Vec<u16>,
}

impl Regions {
    /// The allocation that holds an address. `step` is the step that asks.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        step: usize,
        address: u64,
        memory: &dyn Memory,
        epoch: u32,
    ) -> Option<&Region> {
        let holds = |region: &Region| address.wrapping_sub(region.base()) < region.bytes();
        let hint = self.hints.get(step % 1024).copied().unwrap_or(0) as usize;
        let is_there = self.found.get(hint).is_some_and(|region| holds(region));
        if is_there {
            return self.found.get(hint).map(|region| &**region);
        }
        self.search(step, address, memory, epoch)
    }

    #[cold]
    fn search(
        &mut self,
        step: usize,
        address: u64,
        memory: &dyn Memory,
        epoch: u32,
    ) -> Option<&Region> {
        let holds = |region: &Arc<Region>| address.wrapping_sub(region.base()) < region.bytes();
        let known = self.found.iter().position(holds);
        let place = match known {
            Some(place) => place,
            None => {
                let region = memory.region(address).filter(holds)?;
                region.cells().start(epoch);
                if self.found.len() >= 4096 {
                    self.found.clear();
                }
                self.found.push(region);
                self.found.len() - 1
            }
        };
        self.hints.resize(1024, 0);
        if let Some(hint) = self.hints.get_mut(step % 1024) {
            *hint = place as u16;
        }
        self.found.get(place).map(|region| &**region)
    }
}

/// Runs blocks until there are none left.
pub(crate) struct Worker<'g> {
    grid: &'g Grid<'g>,
    number: usize,
    workers: usize,
    store: Store,
}

impl<'g> Worker<'g> {
    pub(crate) fn new(grid: &'g Grid<'g>, number: usize, workers: usize) -> Self {
        Self {
            grid,
            number,
            workers,
            store: Store::default(),
        }
    }

    pub(crate) fn run(mut self) {
        let mut live: VecDeque<Team> = VecDeque::new();
        if self.grid.shape.is_cooperative {
            // All blocks must be there before one of them waits for another.
            let mine = (self.number as u64..self.grid.teams).step_by(self.workers);
            live.extend(mine.map(|number| Team::new(self.grid, number, &mut self.store)));
        }
        loop {
            let team = match live.pop_front() {
                Some(team) => Some(team),
                None => self.begin(),
            };
            let Some(mut team) = team else {
                return;
            };
            match team.turn(self.grid, &mut self.store) {
                Ok(Turn::Done) => self.store.keep(team),
                Ok(Turn::Yielded) => {
                    live.push_back(team);
                    if live.len() < LIVE_MAX {
                        if let Some(next) = self.begin() {
                            live.push_front(next);
                        }
                    }
                }
                Err(finding) => self.grid.stop(finding),
            }
            if self.grid.is_stopped() {
                return;
            }
        }
    }

    fn begin(&mut self) -> Option<Team> {
        if self.grid.shape.is_cooperative {
            return None;
        }
        let number = self.grid.next_team.fetch_add(1, Ordering::Relaxed);
        let is_one = number < self.grid.teams;
        is_one.then(|| Team::new(self.grid, number, &mut self.store))
    }
}
