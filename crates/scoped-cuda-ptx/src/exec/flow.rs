//! How lanes part, wait, call, return and end.

use super::call;
use super::grid::Grid;
use super::team::{Barrier, Block};
use super::warp::{Fault, Group, State, Warp};
use super::worker::Store;
use crate::check::Class;
use crate::program::op::{self, Place};

impl Warp {
    /// Lanes of `mask` go to a target, the others go on.
    pub(super) fn part(
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

    pub(super) fn jump(
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
    pub(super) fn is_met(&mut self, chosen: usize, group: Group, mask: u32, members: u32) -> bool {
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
    pub(super) fn barrier(
        &mut self,
        blocks: &mut [Block],
        chosen: usize,
        group: Group,
        mask: u32,
        barrier: &op::Barrier,
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
    pub(super) fn exit(&mut self, blocks: &mut [Block], chosen: usize, group: Group, mask: u32) {
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
    pub(super) fn leave(
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
    pub(super) fn call(
        &mut self,
        grid: &Grid<'_>,
        store: &mut Store,
        blocks: &mut [Block],
        chosen: usize,
        group: Group,
        mask: u32,
        target: &op::Call,
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
}
