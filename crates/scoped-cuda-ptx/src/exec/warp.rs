//! A warp: groups of lanes that are at the same step.
//!
//! Lanes part at branches and meet again. The group with the lowest step runs, in the deepest call,
//! until it comes to where another group waits; there the two become one. The order of the blocks
//! makes that the first place where lanes can meet. A group that runs for long while others could
//! run pauses, so that lanes may wait for each other.

use super::frame::{Frame, Row};
use super::grid::Grid;
use super::team::{Block, ClusterPhase};
use super::worker::Store;
use crate::check::{Access, Class, Finding};
use crate::program::op::{Bank, Place, Reduction};
use std::sync::atomic::Ordering;

/// Steps that a warp makes in a turn.
pub(super) const TURN: u32 = 1 << 16;
/// A step that others may wait for counts as so many.
pub(super) const STRONG_STEP: u32 = 1 << 8;
/// Steps that a group makes while other groups of its warp could run.
pub(super) const PATIENCE: u32 = 1 << 12;

/// Why a group does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Ready,
    /// It waits at a barrier of the block, for a result perhaps.
    Barrier(u8, Option<(Reduction, Place)>),
    /// It waits for other lanes of the warp to come to its step.
    Meet,
    /// It waits for the cluster to leave a phase.
    Cluster(u32),
}

/// Lanes that are at the same step of the same call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    pub(crate) frame: usize,
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) state: State,
    /// It has run for long: others go first.
    pub(super) rests: bool,
}

/// How a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    Waits,
    Tired,
}

/// A warp.
#[derive(Default)]
pub(crate) struct Warp {
    /// The rank of its block in the cluster, and its number in the block.
    pub(crate) block: u32,
    pub(crate) index: u32,
    pub(crate) groups: Vec<Group>,
    pub(crate) frames: Vec<Frame>,
    pub(super) free: Vec<usize>,
    /// The lanes that have not exited.
    pub(crate) alive: u32,
    pub(crate) locals: Vec<Row>,
    /// What this warp knows of the clocks of the block's warps, its own among them.
    pub(crate) clocks: Vec<u32>,
    /// It has seen what other blocks released.
    pub(crate) has_acquired: bool,
    /// The barrier to which it came without waiting.
    pub(crate) came_to: Option<usize>,
    pub(super) phase: u32,
}

/// What goes wrong in a step.
pub(crate) struct Fault {
    pub(crate) class: Class,
    pub(crate) lane: u32,
    pub(crate) access: Option<Access>,
    pub(crate) address: Option<u64>,
}

impl Fault {
    pub(crate) fn new(class: Class, lane: u32) -> Box<Self> {
        Box::new(Self {
            class,
            lane,
            access: None,
            address: None,
        })
    }
}

impl Warp {
    pub(crate) fn new(grid: &Grid<'_>, store: &mut Store, rank: u32, index: u32) -> Self {
        let lanes = (grid.threads - index * 32).min(32);
        let mask = if lanes == 32 { !0 } else { (1 << lanes) - 1 };
        let mut warp = store.warp();
        warp.block = rank;
        warp.index = index;
        warp.groups.clear();
        warp.groups.push(Group {
            mask,
            ..Group::default()
        });
        warp.free.clear();
        warp.alive = mask;
        warp.clocks.clear();
        warp.clocks.resize(grid.warps as usize, 1);
        warp.has_acquired = false;
        warp.came_to = None;
        warp.phase = 0;
        warp
    }

    /// Whether a group could make a step.
    pub(crate) fn can_run(&mut self, phase: u32) -> bool {
        for group in &mut self.groups {
            if matches!(group.state, State::Cluster(past) if past != phase) {
                group.state = State::Ready;
                self.has_acquired = true;
            }
        }
        let is_ready = |group: &Group| matches!(group.state, State::Ready | State::Meet);
        self.groups.iter().any(is_ready)
    }

    pub(crate) fn is_at(&self, barrier: usize) -> bool {
        self.groups.iter().any(|group| match group.state {
            State::Barrier(at, _) => usize::from(at) == barrier,
            _ => false,
        })
    }

    /// Begins another stretch of time: what came before it is ordered.
    pub(crate) fn tick(&mut self) {
        if let Some(clock) = self.clocks.get_mut(self.index as usize) {
            *clock = clock.saturating_add(1);
        }
    }

    /// Lets the groups at a barrier go on.
    pub(crate) fn wake(
        &mut self,
        barrier: usize,
        result: impl Fn((Reduction, Place)) -> (Place, u32),
    ) {
        for group in &mut self.groups {
            let State::Barrier(at, wanted) = group.state else {
                continue;
            };
            if usize::from(at) != barrier {
                continue;
            }
            group.state = State::Ready;
            let Some((place, value)) = wanted.map(&result) else {
                continue;
            };
            if let Some(frame) = self.frames.get_mut(group.frame) {
                let registers = &mut frame.registers;
                match place.bank {
                    Bank::Predicate => registers.set_predicate(place.slot, value, group.mask),
                    _ => registers.set_words(place.slot, &[value; 32], group.mask),
                }
            }
        }
    }

    fn depth(&self, group: &Group) -> u32 {
        self.frames.get(group.frame).map_or(0, |frame| frame.depth)
    }

    /// Joins groups at the same step, and chooses the one that runs: its number.
    fn pick(&mut self) -> Option<usize> {
        if let [only] = self.groups.as_slice() {
            return (only.state == State::Ready).then_some(0);
        }
        self.groups.retain(|group| group.mask != 0);
        let mut n = 0;
        while n < self.groups.len() {
            let mut m = n + 1;
            while m < self.groups.len() {
                let (a, b) = (self.groups[n], self.groups[m]);
                let can_meet = |state| matches!(state, State::Ready | State::Meet);
                let is_met = a.frame == b.frame && a.pc == b.pc;
                if is_met && can_meet(a.state) && can_meet(b.state) {
                    let joined = self.groups.swap_remove(m);
                    self.groups[n].mask |= joined.mask;
                    self.groups[n].state = State::Ready;
                    self.groups[n].rests = false;
                } else {
                    m += 1;
                }
            }
            n += 1;
        }
        let is_ready = |group: &Group| group.state == State::Ready;
        if self
            .groups
            .iter()
            .filter(|group| is_ready(group))
            .all(|group| group.rests)
        {
            for group in &mut self.groups {
                group.rests = false;
            }
        }
        let ready = self.groups.iter().enumerate();
        let ready = ready.filter(|(_, group)| is_ready(group) && !group.rests);
        let first = ready.min_by_key(|(_, group)| (u32::MAX - self.depth(group), group.pc));
        first.map(|(n, _)| n)
    }

    /// The step at which a group meets the next one.
    fn limit(&self, chosen: usize) -> u32 {
        let group = self.groups[chosen];
        let others = self.groups.iter().enumerate().filter(|(n, other)| {
            let can_meet = matches!(other.state, State::Ready | State::Meet);
            *n != chosen && can_meet && other.frame == group.frame && other.pc > group.pc
        });
        others.map(|(_, other)| other.pc).min().unwrap_or(u32::MAX)
    }

    /// Runs groups until all wait or the time is used up.
    pub(crate) fn run(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
        blocks: &mut [Block],
        cluster: &mut ClusterPhase,
    ) -> Result<Pause, Box<Finding>> {
        if self.frames.is_empty() {
            let block = blocks
                .get(self.block as usize)
                .map_or([0; 3], |block| block.index);
            let mut frame = store.frame(grid, grid.entry);
            frame.fill(grid, block, self.block, self.index);
            frame.lanes = self.alive;
            self.frames.push(frame);
        }
        let pause = self.run_groups(grid, store, blocks, cluster);
        if self.alive == 0 {
            // The next warp finds its registers where these were.
            for frame in self.frames.drain(..) {
                store.keep_frame(frame);
            }
        }
        pause
    }

    fn run_groups(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
        blocks: &mut [Block],
        cluster: &mut ClusterPhase,
    ) -> Result<Pause, Box<Finding>> {
        let mut time = TURN;
        loop {
            let Some(chosen) = self.pick() else {
                return match self.groups.iter().find(|group| group.state == State::Meet) {
                    Some(group) => Err(self.unmet(grid, blocks, group)),
                    None => Ok(Pause::Waits),
                };
            };
            let limit = self.limit(chosen);
            let before = time;
            let outcome = self.run_group(grid, store, blocks, cluster, chosen, limit, &mut time);
            let steps = u64::from(before.wrapping_sub(time));
            store.steps += steps;
            if let Err(fault) = outcome {
                let group = self.groups.get(chosen).copied().unwrap_or_default();
                return Err(self.finding(grid, blocks, &group, *fault));
            }
            if time == 0 {
                let made = std::mem::take(&mut store.steps);
                let all = grid.steps.fetch_add(made, Ordering::Relaxed) + made;
                if all > grid.options.steps_max {
                    let group = self.groups.first().copied().unwrap_or_default();
                    return Err(self.finding_at(grid, blocks, &group, Class::NoProgress));
                }
                return Ok(Pause::Tired);
            }
        }
    }
}
