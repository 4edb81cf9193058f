//! The steps of a group of lanes, one after the other.

use super::access::{Finder, Lanes, each};
use super::grid::Grid;
use super::private::Private;
use super::seen::Seen;
use super::team::{Block, ClusterPhase};
use super::warp::{Fault, PATIENCE, STRONG_STEP, State, TURN, Warp};
use super::worker::Store;
use super::{atomic, convert, load, mbarrier, store, vote};
use crate::check::Class;
use crate::program::SHARED_WINDOW;
use crate::program::op::{Bank, ClusterBarrier, Guard, Op, Scope};

impl Warp {
    /// Runs one group until it parts, waits, comes to `limit`, or has no time left.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn run_group(
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
                            load::load(&mut lanes, access)?;
                            (acquires, is_strong) = (access.is_strong, access.is_strong);
                        }
                        Op::Store(access) => {
                            releases = access.releases;
                            is_strong = access.is_strong;
                            store::store(&mut lanes, access)?;
                        }
                        Op::Atomic(atomic) => {
                            atomic::run(&mut lanes, atomic)?;
                            (acquires, releases, is_strong) = (true, atomic.releases, true);
                        }
                        Op::Copy(copy) => store::copy(&mut lanes, copy)?,
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
                Op::IsConstant(to, from, asks_constant) => {
                    let row = frame.registers.long(*from);
                    let is_one = |address: u64| {
                        let is_constant = grid.is_constant(address);
                        is_constant == *asks_constant && address < SHARED_WINDOW
                    };
                    let lanes = each(mask).filter(|lane| is_one(row[*lane]));
                    let bits = lanes.fold(0, |bits, lane| bits | 1 << lane);
                    frame.registers.set_predicate(*to, bits, mask);
                }
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
    pub(super) fn publish(&mut self, grid: &Grid<'_>, blocks: &[Block]) {
        self.tick();
        let first = blocks
            .get(self.block as usize)
            .map_or(0, |block| block.first_warp);
        for (warp, clock) in self.clocks.iter().enumerate() {
            grid.release((first as u32).wrapping_add(warp as u32), *clock);
        }
    }
}
