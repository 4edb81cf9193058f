//! The order of a function's blocks.
//!
//! Lanes that have parted run by the place of their next step: the lowest first. When a block
//! stands after all blocks that lead to it, and a loop stands before what follows it, lanes meet
//! again at the first place where they can. So blocks are put in that order: strongly connected
//! components in topological order, and within a loop the same without the edges to its head.

use super::lower::Jump;
use super::op::{Guard, Op, Step};

/// Loops may be nested so deeply; blocks of loops within stay in the order of the text.
const DEPTH_MAX: u32 = 40;

struct Block {
    start: usize,
    end: usize,
    next: Vec<usize>,
}

/// Puts the blocks in order and gives every jump its target.
pub(super) fn ordered(steps: Vec<Step>, jumps: &[Jump]) -> Vec<Step> {
    let (blocks, block_of) = cut(&steps, jumps);
    let mut order = Vec::with_capacity(blocks.len());
    // What the first block does not lead to is left out.
    let all = reachable(&blocks);
    let mut scratch = Scratch::new(blocks.len());
    sort(&blocks, &all, None, &mut scratch, &mut order, 0);
    lay_out(steps, jumps, &blocks, &block_of, &order)
}

/// The blocks to which the first one leads, itself first.
fn reachable(blocks: &[Block]) -> Vec<usize> {
    let mut is_found = vec![false; blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        match is_found.get_mut(block) {
            Some(found) if !*found => *found = true,
            _ => continue,
        }
        open.extend(blocks.get(block).map_or(&[][..], |block| &block.next));
    }
    (0..blocks.len()).filter(|block| is_found[*block]).collect()
}

/// Whether the steps after this one are another block.
fn ends_block(op: &Op) -> bool {
    matches!(
        op,
        Op::Branch(_) | Op::Table(..) | Op::Return | Op::Exit | Op::Trap
    )
}

fn cut(steps: &[Step], jumps: &[Jump]) -> (Vec<Block>, Vec<usize>) {
    let mut starts = vec![false; steps.len() + 1];
    let mut mark = |place: usize| {
        if let Some(start) = starts.get_mut(place) {
            *start = true;
        }
    };
    mark(0);
    for (place, step) in steps.iter().enumerate() {
        if ends_block(&step.op) {
            mark(place + 1);
        }
    }
    for jump in jumps {
        mark(jump.target);
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = vec![0; steps.len() + 1];
    for place in 0..steps.len() {
        if starts.get(place) == Some(&true) {
            blocks.push(Block {
                start: place,
                end: place,
                next: Vec::new(),
            });
        }
        let number = blocks.len().saturating_sub(1);
        if let Some(block) = blocks.last_mut() {
            block.end = place + 1;
        }
        if let Some(of) = block_of.get_mut(place) {
            *of = number;
        }
    }
    for jump in jumps {
        let from = block_of.get(jump.step).copied().unwrap_or(0);
        let to = block_of.get(jump.target).copied().unwrap_or(0);
        if let Some(block) = blocks.get_mut(from) {
            block.next.push(to);
        }
    }
    let count = blocks.len();
    for (number, block) in blocks.iter_mut().enumerate() {
        if falls_through(steps, block) && number + 1 < count {
            block.next.push(number + 1);
        }
    }
    (blocks, block_of)
}

fn falls_through(steps: &[Step], block: &Block) -> bool {
    let last = steps.get(block.end.wrapping_sub(1));
    last.is_none_or(|step| !ends_block(&step.op) || step.guard != Guard::Always)
}

/// What is noted of each block while components are looked for.
struct Scratch {
    /// The last search that the block belongs to.
    marks: Vec<u32>,
    searches: u32,
    index: Vec<usize>,
    low: Vec<usize>,
    is_open: Vec<bool>,
}

impl Scratch {
    fn new(blocks: usize) -> Self {
        Self {
            marks: vec![0; blocks],
            searches: 0,
            index: vec![usize::MAX; blocks],
            low: vec![usize::MAX; blocks],
            is_open: vec![false; blocks],
        }
    }

    /// Begins a search among blocks.
    fn begin(&mut self, among: &[usize]) {
        self.searches += 1;
        for block in among {
            self.marks[*block] = self.searches;
            self.index[*block] = usize::MAX;
            self.low[*block] = usize::MAX;
            self.is_open[*block] = false;
        }
    }
}

/// Appends blocks in order. `head` is a block to which edges do not count.
fn sort(
    blocks: &[Block],
    among: &[usize],
    head: Option<usize>,
    scratch: &mut Scratch,
    order: &mut Vec<usize>,
    depth: u32,
) {
    let mut components = components(blocks, among, head, scratch);
    components.reverse();
    for component in components {
        match component.as_slice() {
            [single] => order.push(*single),
            [first, rest @ ..] if depth < DEPTH_MAX => {
                order.push(*first);
                let mut rest = rest.to_vec();
                rest.sort_unstable();
                sort(blocks, &rest, Some(*first), scratch, order, depth + 1);
            }
            all => {
                let mut all = all.to_vec();
                all.sort_unstable();
                order.extend(all);
            }
        }
    }
}

/// Tarjan's components, the last of a topological order first, each with the block first reached
/// at its start.
fn components(
    blocks: &[Block],
    among: &[usize],
    head: Option<usize>,
    scratch: &mut Scratch,
) -> Vec<Vec<usize>> {
    scratch.begin(among);
    let mine = scratch.searches;
    let Scratch {
        marks,
        index,
        low,
        is_open,
        ..
    } = scratch;
    let (mut open, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    for root in among {
        if index[*root] != usize::MAX {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(*root, 0)];
        while let Some((block, edge)) = path.last().copied() {
            if edge == 0 && index[block] == usize::MAX {
                index[block] = count;
                low[block] = count;
                count += 1;
                open.push(block);
                is_open[block] = true;
            }
            let next = &blocks[block].next;
            // The fall-through stands last; it is followed first, so that the text's order stays.
            let target = next.len().checked_sub(edge + 1).map(|place| next[place]);
            let Some(target) = target else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    low[*parent] = low[*parent].min(low[block]);
                }
                if low[block] == index[block] {
                    let place = open.iter().rposition(|open| *open == block).unwrap_or(0);
                    let component = open.split_off(place);
                    for member in &component {
                        is_open[*member] = false;
                    }
                    found.push(component);
                }
                continue;
            };
            if let Some(top) = path.last_mut() {
                top.1 += 1;
            }
            let counts = marks[target] == mine && Some(target) != head;
            if counts && index[target] == usize::MAX {
                path.push((target, 0));
            } else if counts && is_open[target] {
                low[block] = low[block].min(index[target]);
            }
        }
    }
    found
}

fn lay_out(
    steps: Vec<Step>,
    jumps: &[Jump],
    blocks: &[Block],
    block_of: &[usize],
    order: &[usize],
) -> Vec<Step> {
    let falls: Vec<bool> = blocks
        .iter()
        .map(|block| falls_through(&steps, block))
        .collect();
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let mut laid: Vec<Step> = Vec::with_capacity(steps.len());
    // Where each old step stands now, and jumps that were added: their place and their block.
    let mut place_of = vec![u32::MAX; steps.len() + 1];
    let mut added: Vec<(usize, usize)> = Vec::new();
    for (n, number) in order.iter().enumerate() {
        let block = &blocks[*number];
        for old in block.start..block.end {
            place_of[old] = laid.len() as u32;
            laid.extend(steps[old].take());
        }
        let follower = number + 1;
        if falls[*number] && order.get(n + 1) != Some(&follower) {
            let (line, source) = laid
                .last()
                .map_or((0, (0, 0)), |step| (step.line, step.source));
            let is_last = follower >= blocks.len();
            if !is_last {
                added.push((laid.len(), follower));
            }
            laid.push(Step {
                op: if is_last { Op::Return } else { Op::Branch(0) },
                guard: Guard::Always,
                line,
                source,
            });
        }
    }
    let new_start = |block: usize| blocks.get(block).map_or(0, |block| place_of[block.start]);
    for (place, block) in added {
        laid[place].op = Op::Branch(new_start(block));
    }
    for jump in jumps {
        let target = new_start(block_of[jump.target]);
        match laid
            .get_mut(place_of[jump.step] as usize)
            .map(|step| &mut step.op)
        {
            Some(Op::Branch(to)) => *to = target,
            Some(Op::Table(_, targets)) => {
                if let Some(to) = targets.get_mut(jump.entry) {
                    *to = target;
                }
            }
            _ => {}
        }
    }
    laid
}
