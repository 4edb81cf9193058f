//! Findings of a warp.

use super::access;
use super::grid::Grid;
use super::team::Block;
use super::warp::{Fault, Group, State, Warp};
use crate::check::{Class, Finding, Nearest, Thread};
use crate::program::op::Op;

impl Warp {
    /// Groups wait for lanes that do not come.
    pub(super) fn unmet(&self, grid: &Grid<'_>, blocks: &[Block], group: &Group) -> Box<Finding> {
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

    pub(super) fn finding(
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
