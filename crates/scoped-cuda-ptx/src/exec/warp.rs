//! A warp: groups of lanes that are at the same step.
//!
//! Lanes part at branches and meet again. The group with the lowest step runs, in the deepest call,
//! until it comes to where another group waits; there the two become one. The order of the blocks makes
//! that the first place where lanes can meet. A group that runs for long while others could run pauses,
//! so that lanes may wait for each other.

use super::access::{Finder, Lanes};
use super::frame::{Frame, Row};
use super::grid::Grid;
use super::private::Private;
use super::team::{Barrier, Block, ClusterPhase};
use super::worker::Store;
use super::{access, atomic, call, convert, mbarrier, vote};
use crate::check::{Access, Class, Finding, Nearest, Thread};
use crate::memory::{Tag, Visitor};
use crate::program::op::{Bank, ClusterBarrier, Guard, Op, Place, Reduction, Scope};
use std::sync::atomic::Ordering;

/// Steps that a warp makes in a turn.
const TURN: u32 = 1 << 16;
/// A step that others may wait for counts as so many.
const STRONG_STEP: u32 = 1 << 8;
/// Steps that a group makes while other groups of its warp could run.
const PATIENCE: u32 = 1 << 12;

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
    rests: bool,
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
    free: Vec<usize>,
    /// The lanes that have not exited.
    pub(crate) alive: u32,
    pub(crate) locals: Vec<Row>,
    /// What this warp knows of the clocks of the block's warps, its own among them.
    pub(crate) clocks: Vec<u32>,
    /// It has seen what other blocks released.
    pub(crate) has_acquired: bool,
    /// The barrier to which it came without waiting.
    pub(crate) came_to: Option<usize>,
    phase: u32,
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

/// What a thread knows of the order of accesses.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'w> {
    pub(crate) clocks: &'w [u32],
    pub(crate) first_warp: u32,
    pub(crate) has_acquired: bool,
    pub(crate) grid: &'w Grid<'w>,
}

impl Visitor for Seen<'_> {
    fn is_ordered(&self, earlier: Tag, _: Tag) -> bool {
        if earlier.clock() >= crate::memory::CLOCK_MAX {
            return true;
        }
        let warp = earlier.warp().wrapping_sub(self.first_warp) & crate::memory::WARP_MASK;
        let is_known = self
            .clocks
            .get(warp as usize)
            .is_some_and(|clock| earlier.clock() < *clock);
        is_known || (self.has_acquired && self.grid.is_released(earlier))
    }
}

impl Warp {
    pub(crate) fn new(
        grid: &Grid<'_>,
        store: &mut Store,
        rank: u32,
        block: [u32; 3],
        index: u32,
    ) -> Self {
        let lanes = (grid.threads - index * 32).min(32);
        let mask = if lanes == 32 { !0 } else { (1 << lanes) - 1 };
        let mut frame = store.frame(grid, grid.entry);
        frame.fill(grid, block, rank, index);
        frame.lanes = mask;
        let mut warp = store.warp();
        warp.block = rank;
        warp.index = index;
        warp.groups.clear();
        warp.groups.push(Group {
            mask,
            ..Group::default()
        });
        warp.frames.push(frame);
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
        let waits = |group: &Group| matches!(group.state, State::Barrier(at, _) if usize::from(at) == barrier);
        self.groups.iter().any(waits)
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

    /// Groups wait for lanes that do not come.
    fn unmet(&self, grid: &Grid<'_>, blocks: &[Block], group: &Group) -> Box<Finding> {
        let frame = self.frames.get(group.frame);
        let function = frame.and_then(|frame| grid.function(frame.function));
        let step = function.and_then(|function| function.steps.get(group.pc as usize));
        let class = match step.map(|step| &step.op) {
            Some(Op::Barrier(_)) => Class::BarrierDivergence,
            Some(Op::Shuffle(_)) => Class::InactiveLane,
            _ => Class::WarpDivergence,
        };
        self.finding_at(grid, blocks, group, class)
    }

    /// Runs one group until it parts, waits, comes to `limit`, or has no time left.
    #[allow(clippy::too_many_arguments)]
    fn run_group(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
        blocks: &mut [Block],
        cluster: &mut ClusterPhase,
        chosen: usize,
        limit: u32,
        time: &mut u32,
    ) -> Result<(), Box<Fault>> {
        let mut group = self.groups[chosen];
        let is_alone = self.groups.len() == 1;
        let mut patience = PATIENCE;
        let Some(function) = self
            .frames
            .get(group.frame)
            .and_then(|frame| grid.function(frame.function))
        else {
            return Err(Fault::new(Class::BadTarget, 0));
        };
        let steps = function.steps.as_slice();
        let formals = match function.is_entry {
            true => grid
                .parameters
                .get(..function.formal_bytes as usize)
                .unwrap_or(&[]),
            false => &[],
        };
        loop {
            let Self {
                groups,
                frames,
                locals,
                clocks,
                ..
            } = self;
            // Kept up to date, so that a finding knows the step.
            if let Some(kept) = groups.get_mut(chosen) {
                kept.pc = group.pc;
            }
            let (Some(step), Some(frame)) =
                (steps.get(group.pc as usize), frames.get_mut(group.frame))
            else {
                return Err(Fault::new(Class::BadTarget, group.mask.trailing_zeros()));
            };
            if group.pc >= limit || *time == 0 {
                return Ok(());
            }
            *time -= 1;
            let mask = match step.guard {
                Guard::Always => group.mask,
                Guard::If(slot) => group.mask & frame.registers.predicate(slot),
                Guard::Unless(slot) => group.mask & !frame.registers.predicate(slot),
            };
            if !is_alone {
                patience = patience.saturating_sub(1);
                if patience == 0 {
                    if let Some(kept) = groups.get_mut(chosen) {
                        kept.rests = true;
                    }
                    return Ok(());
                }
            }
            if mask == 0 {
                group.pc += 1;
                continue;
            }
            match &step.op {
                Op::Plain(run, args) => run(&mut frame.registers, args, mask),
                Op::Convert(convert, args) => {
                    convert::run(&mut frame.registers, convert, args, mask)
                }
                Op::Branch(target) if mask == group.mask => {
                    group.pc = *target;
                    continue;
                }
                Op::Branch(target) => {
                    return self.part(chosen, group, mask, *target);
                }
                Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Copy(_) | Op::Mbarrier(_) => {
                    let Some(block) = blocks.get(self.block as usize) else {
                        return Err(Fault::new(Class::BadTarget, 0));
                    };
                    let mut lanes = Lanes {
                        registers: &mut frame.registers,
                        private: Private {
                            params: &mut frame.params,
                            locals,
                            stack_bytes: grid.options.stack_bytes,
                            formals,
                        },
                        mask,
                        finder: Finder {
                            pc: group.pc as usize,
                            regions: &mut store.regions,
                            blocks,
                            rank: self.block,
                            warp: (block.first_warp + u64::from(self.index)) as u32,
                            clock: clocks.get(self.index as usize).copied().unwrap_or(0),
                            seen: Seen {
                                clocks,
                                first_warp: block.first_warp as u32,
                                has_acquired: self.has_acquired,
                                grid,
                            },
                        },
                    };
                    let (mut acquires, mut releases, mut is_strong) = (false, false, false);
                    match &step.op {
                        Op::Load(access) => {
                            access::load(&mut lanes, access)?;
                            (acquires, is_strong) = (access.is_strong, access.is_strong);
                        }
                        Op::Store(access) => {
                            releases = access.releases;
                            is_strong = access.is_strong;
                            access::store(&mut lanes, access)?;
                        }
                        Op::Atomic(atomic) => {
                            atomic::run(&mut lanes, atomic)?;
                            (acquires, releases, is_strong) = (true, atomic.releases, true);
                        }
                        Op::Copy(copy) => access::copy(&mut lanes, copy)?,
                        Op::Mbarrier(barrier) => {
                            mbarrier::run(&mut lanes, barrier)?;
                            is_strong = true;
                            // Whoever waits for it sees what came before.
                            (acquires, releases) = (true, true);
                        }
                        _ => {}
                    }
                    if is_strong {
                        *time = (*time + 1).saturating_sub(STRONG_STEP);
                        patience = patience.saturating_sub(STRONG_STEP / 8).max(1);
                    }
                    self.has_acquired |= acquires;
                    if releases {
                        self.publish(grid, blocks);
                    }
                }
                Op::Table(slot, targets) => {
                    return self.jump(chosen, group, mask, *slot, targets);
                }
                Op::Return => return self.leave(grid, blocks, store, chosen, group, mask),
                Op::Exit => {
                    self.exit(blocks, chosen, group, mask);
                    return Ok(());
                }
                Op::Trap => {
                    return Err(Fault::new(
                        Class::Trap(String::new()),
                        mask.trailing_zeros(),
                    ));
                }
                Op::Call(target) => {
                    let goes_on = self.call(grid, store, blocks, chosen, group, mask, target)?;
                    if !goes_on {
                        return Ok(());
                    }
                }
                Op::Barrier(barrier) => {
                    return self.barrier(blocks, chosen, group, mask, barrier);
                }
                Op::SyncWarp(slot) => {
                    let members = vote::members(&frame.registers, *slot, mask)?;
                    if !self.is_met(chosen, group, mask, members) {
                        return Ok(());
                    }
                    self.tick();
                }
                Op::Shuffle(shuffle) => {
                    let members = match shuffle.members {
                        Some(slot) => vote::members(&frame.registers, slot, mask)?,
                        None => mask,
                    };
                    if !self.is_met(chosen, group, mask, members) {
                        return Ok(());
                    }
                    let alive = self.alive;
                    if let Some(frame) = self.frames.get_mut(group.frame) {
                        vote::shuffle(&mut frame.registers, shuffle, mask, alive)?;
                    }
                }
                Op::Vote(question) => {
                    let members = match question.members {
                        Some(slot) => vote::members(&frame.registers, slot, mask)?,
                        None => mask,
                    };
                    if !self.is_met(chosen, group, mask, members) {
                        return Ok(());
                    }
                    if let Some(frame) = self.frames.get_mut(group.frame) {
                        vote::vote(&mut frame.registers, question, mask);
                    }
                }
                Op::Active(slot) => frame.registers.set_words(*slot, &[mask; 32], mask),
                Op::Clock(place) => {
                    let now = grid.start.elapsed().as_nanos() as u64 * 2;
                    match place.bank {
                        Bank::Long => frame.registers.set_longs(place.slot, &[now; 32], mask),
                        _ => frame
                            .registers
                            .set_words(place.slot, &[now as u32; 32], mask),
                    }
                    *time = (*time + 1).saturating_sub(STRONG_STEP);
                }
                Op::Fence(scope) => {
                    if *scope >= Scope::Cluster {
                        self.publish(grid, blocks);
                        self.has_acquired = true;
                    } else {
                        self.tick();
                    }
                }
                Op::Sleep => *time = (*time + 1).saturating_sub(TURN / 4),
                Op::Rank(to, from) => {
                    let mut row = [0; 32];
                    for (lane, rank) in row.iter_mut().enumerate() {
                        let address = match from.bank {
                            Bank::Long => frame.registers.long(from.slot)[lane] as u32,
                            _ => frame.registers.word(from.slot)[lane],
                        };
                        *rank = (address >> 24).checked_sub(1).unwrap_or(self.block);
                    }
                    frame.registers.set_words(to.slot, &row, mask);
                }
                Op::Cluster(ClusterBarrier::Arrive) => {
                    cluster.arrived += mask.count_ones();
                    self.phase = cluster.phase;
                    self.publish(grid, blocks);
                }
                Op::Cluster(ClusterBarrier::Wait) => {
                    group.pc += 1;
                    group.state = State::Cluster(self.phase);
                    if let Some(kept) = self.groups.get_mut(chosen) {
                        *kept = group;
                    }
                    return Ok(());
                }
            }
            group.pc += 1;
        }
    }

    /// Tells other blocks of everything that this warp knows and did.
    fn publish(&mut self, grid: &Grid<'_>, blocks: &[Block]) {
        self.tick();
        let first = blocks
            .get(self.block as usize)
            .map_or(0, |block| block.first_warp);
        for (warp, clock) in self.clocks.iter().enumerate() {
            grid.release((first as u32).wrapping_add(warp as u32), *clock);
        }
    }

    /// Lanes of `mask` go to a target, the others go on.
    fn part(
        &mut self,
        chosen: usize,
        group: Group,
        mask: u32,
        target: u32,
    ) -> Result<(), Box<Fault>> {
        self.groups[chosen] = Group {
            pc: group.pc + 1,
            mask: group.mask & !mask,
            ..group
        };
        self.groups.push(Group {
            pc: target,
            mask,
            ..group
        });
        Ok(())
    }

    fn jump(
        &mut self,
        chosen: usize,
        group: Group,
        mask: u32,
        slot: u32,
        targets: &[u32],
    ) -> Result<(), Box<Fault>> {
        let Some(frame) = self.frames.get(group.frame) else {
            return Ok(());
        };
        let row = *frame.registers.word(slot);
        self.groups[chosen] = Group {
            pc: group.pc + 1,
            mask: group.mask & !mask,
            ..group
        };
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros();
            let index = row[lane as usize];
            let same = (0..32u32).filter(|lane| row[*lane as usize] == index);
            let same = same.fold(0, |mask, lane| mask | 1 << lane) & left;
            let Some(target) = targets.get(index as usize) else {
                return Err(Fault::new(Class::BadTarget, lane));
            };
            self.groups.push(Group {
                pc: *target,
                mask: same,
                ..group
            });
            left &= !same;
        }
        Ok(())
    }

    /// Whether all lanes of `members` are at this step. If not, those that are wait here.
    fn is_met(&mut self, chosen: usize, group: Group, mask: u32, members: u32) -> bool {
        let missing = members & self.alive & !mask;
        if missing == 0 {
            return true;
        }
        self.groups[chosen] = Group {
            mask,
            state: State::Meet,
            ..group
        };
        if mask != group.mask {
            self.groups.push(Group {
                pc: group.pc + 1,
                mask: group.mask & !mask,
                ..group
            });
        }
        false
    }

    /// Lanes come to a barrier of the block.
    fn barrier(
        &mut self,
        blocks: &mut [Block],
        chosen: usize,
        group: Group,
        mask: u32,
        barrier: &crate::program::op::Barrier,
    ) -> Result<(), Box<Fault>> {
        let lane = mask.trailing_zeros();
        // An aligned barrier takes the warp as a whole.
        if barrier.is_aligned && !self.is_met(chosen, group, mask, self.alive) {
            return Ok(());
        }
        let Some(frame) = self.frames.get(group.frame) else {
            return Ok(());
        };
        let value = |place: Place| frame.registers.word(place.slot)[lane as usize];
        let number = value(barrier.number) as usize;
        let expected = barrier.threads.map(value);
        let places = blocks
            .get_mut(self.block as usize)
            .map(|block| &mut block.barriers);
        let Some(state) = places.and_then(|barriers| barriers.get_mut(number)) else {
            return Err(Fault::new(Class::BadTarget, lane));
        };
        let Barrier {
            arrived,
            holds,
            asked,
            ..
        } = state;
        *arrived += match (barrier.is_aligned, expected) {
            (true, Some(_)) => 32,
            _ => mask.count_ones(),
        };
        if let Some((_, _, predicate, is_negated)) = barrier.reduction {
            let bits = frame.registers.predicate(predicate) ^ if is_negated { !0 } else { 0 };
            *holds += (bits & mask).count_ones();
            *asked += mask.count_ones();
        }
        state.expected = expected;
        let rest = group.mask & !mask;
        if !barrier.waits {
            self.came_to = Some(number);
            self.groups[chosen].pc += 1;
            return Ok(());
        }
        self.groups[chosen] = Group {
            pc: group.pc + 1,
            mask,
            state: State::Barrier(
                number as u8,
                barrier.reduction.map(|(how, place, ..)| (how, place)),
            ),
            ..group
        };
        if rest != 0 {
            self.groups.push(Group {
                pc: group.pc + 1,
                mask: rest,
                ..group
            });
        }
        Ok(())
    }

    /// Lanes end.
    fn exit(&mut self, blocks: &mut [Block], chosen: usize, group: Group, mask: u32) {
        self.alive &= !mask;
        if let Some(block) = blocks.get_mut(self.block as usize) {
            block.exited += mask.count_ones();
        }
        // Nobody waits for them any more.
        for waiting in self
            .groups
            .iter_mut()
            .filter(|group| group.state == State::Meet)
        {
            waiting.state = State::Ready;
        }
        self.groups[chosen] = Group {
            pc: group.pc + 1,
            mask: group.mask & !mask,
            ..group
        };
        self.groups.retain(|group| group.mask != 0);
    }

    /// Lanes return from a call, or end if nobody called.
    fn leave(
        &mut self,
        grid: &Grid<'_>,
        blocks: &mut [Block],
        store: &mut Store,
        chosen: usize,
        group: Group,
        mask: u32,
    ) -> Result<(), Box<Fault>> {
        let caller = self.frames.get(group.frame).and_then(|frame| frame.caller);
        let Some((caller, step)) = caller else {
            self.exit(blocks, chosen, group, mask);
            return Ok(());
        };
        call::hand_back(grid, &mut self.frames, caller, group.frame, step, mask);
        self.groups[chosen] = Group {
            pc: group.pc + 1,
            mask: group.mask & !mask,
            ..group
        };
        self.groups.push(Group {
            frame: caller,
            pc: step + 1,
            mask,
            ..group
        });
        self.groups.retain(|group| group.mask != 0);
        let is_used = self.groups.iter().any(|other| other.frame == group.frame);
        if let Some(frame) = self.frames.get_mut(group.frame).filter(|_| !is_used) {
            store.keep_frame(std::mem::take(frame));
            self.free.push(group.frame);
        }
        Ok(())
    }

    /// Lanes call a function. Whether the group goes on with its next step.
    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
        blocks: &mut [Block],
        chosen: usize,
        group: Group,
        mask: u32,
        target: &crate::program::op::Call,
    ) -> Result<bool, Box<Fault>> {
        let lane = mask.trailing_zeros();
        let Some(caller) = self.frames.get_mut(group.frame) else {
            return Ok(false);
        };
        let (index, taken) = match call::target(grid, caller, target, mask)? {
            call::Target::System(system) => {
                let shared = blocks.get(self.block as usize).map(|block| &*block.shared);
                call::system(
                    grid,
                    store,
                    caller,
                    &self.locals,
                    shared,
                    target,
                    system,
                    mask,
                )?;
                return Ok(true);
            }
            call::Target::Function(index, taken) => (index, taken),
        };
        let Some(function) = grid.function(index) else {
            return Err(Fault::new(Class::BadTarget, lane));
        };
        let own = grid
            .function(caller.function)
            .map_or(0, |function| function.local_bytes);
        let local_base = caller.local_base + own;
        // A call takes some stack even without local variables.
        let depth = caller.depth + 1;
        let needed = local_base + function.local_bytes + depth * 16;
        if needed > grid.options.stack_bytes {
            return Err(Fault::new(Class::StackOverflow, lane));
        }
        let mut frame = store.frame(grid, index);
        frame.local_base = local_base;
        frame.depth = depth;
        frame.caller = Some((group.frame, group.pc));
        frame.lanes = taken;
        let block = blocks
            .get(self.block as usize)
            .map_or([0; 3], |block| block.index);
        frame.fill(grid, block, self.block, self.index);
        call::hand_over(caller, &mut frame, target, function, taken);
        let place = match self.free.pop() {
            Some(place) => {
                self.frames[place] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                self.frames.len() - 1
            }
        };
        // Lanes that call another function come back to this step.
        let (others, past) = (mask & !taken, group.mask & !mask);
        self.groups[chosen] = Group {
            frame: place,
            pc: 0,
            mask: taken,
            ..group
        };
        if others != 0 {
            self.groups.push(Group {
                mask: others,
                ..group
            });
        }
        if past != 0 {
            self.groups.push(Group {
                pc: group.pc + 1,
                mask: past,
                ..group
            });
        }
        Ok(false)
    }

    /// A finding at the step of a group.
    pub(crate) fn finding_at(
        &self,
        grid: &Grid<'_>,
        blocks: &[Block],
        group: &Group,
        class: Class,
    ) -> Box<Finding> {
        let mut group = *group;
        // Those at a barrier wait after it.
        if matches!(group.state, State::Barrier(..) | State::Cluster(_)) {
            group.pc = group.pc.saturating_sub(1);
        }
        let lane = group.mask.trailing_zeros().min(31);
        self.finding(grid, blocks, &group, *Fault::new(class, lane))
    }

    fn finding(
        &self,
        grid: &Grid<'_>,
        blocks: &[Block],
        group: &Group,
        fault: Fault,
    ) -> Box<Finding> {
        let frame = self.frames.get(group.frame);
        let function = frame.and_then(|frame| grid.function(frame.function));
        let step = function.and_then(|function| function.steps.get(group.pc as usize));
        let (file, line) = step.map_or((0, 0), |step| step.source);
        let source = grid
            .module
            .files
            .get(&file)
            .map(|name| (name.clone(), line));
        let nearest = fault
            .address
            .and_then(|address| access::nearest(grid, blocks, self.block, address));
        let mut class = fault.class;
        if let Class::Race { other, .. } = &mut class {
            *other = resolve(grid, *other);
        }
        Box::new(Finding {
            class,
            kernel: grid.kernel.name().to_owned(),
            function: function
                .filter(|function| !function.is_entry)
                .map(|function| function.name.clone()),
            source: source.filter(|_| line != 0),
            line: step.map_or(0, |step| step.line),
            thread: Thread {
                block: blocks
                    .get(self.block as usize)
                    .map_or([0; 3], |block| block.index),
                thread: grid.thread_index(self.index * 32 + fault.lane),
            },
            access: fault.access,
            address: fault.address,
            nearest: nearest.map(|(label, base, bytes, is_freed)| Nearest {
                label,
                base,
                bytes,
                is_freed,
            }),
        })
    }
}

/// The coordinates of a thread that is told by the number of its warp and its lane.
fn resolve(grid: &Grid<'_>, thread: Thread) -> Thread {
    let [warp, lane, _] = thread.thread;
    let block = u64::from(warp / grid.warps);
    let size = u64::from(grid.cluster_size);
    Thread {
        block: grid.block_index(block / size, (block % size) as u32),
        thread: grid.thread_index(warp % grid.warps * 32 + lane),
    }
}
