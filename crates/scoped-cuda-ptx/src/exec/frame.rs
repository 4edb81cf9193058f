//! A call in progress: its registers, parameters and local variables.

use super::grid::Grid;
use super::lanes::{Registers, WARP};
use super::private::parameter;
use crate::program::op::Bank;
use crate::program::special::Special;
use crate::program::{Fill, Value};

/// A row of lanes of a word of memory that every thread has for itself.
pub(crate) type Row = [u32; WARP];

#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) function: usize,
    pub(crate) registers: Registers,
    /// The parameter space.
    pub(crate) params: Vec<Row>,
    /// Where its local variables begin, in bytes.
    pub(crate) local_base: u32,
    /// The frame that called, and the call's step.
    pub(crate) caller: Option<(usize, u32)>,
    pub(crate) depth: u32,
    /// The lanes that have not returned.
    pub(crate) lanes: u32,
}

impl Frame {
    /// Makes it a fresh frame of a function.
    pub(crate) fn reset(&mut self, function: usize, template: &Registers) {
        self.function = function;
        self.registers.words.clone_from(&template.words);
        self.registers.longs.clone_from(&template.longs);
        self.registers.predicates.clone_from(&template.predicates);
        self.params.clear();
        self.local_base = 0;
        self.caller = None;
        self.depth = 0;
        self.lanes = 0;
    }

    /// Gives registers what differs by warp and by call.
    pub(crate) fn fill(&mut self, grid: &Grid<'_>, block: [u32; 3], rank: u32, warp: u32) {
        let Some(function) = grid.function(self.function) else {
            return;
        };
        self.params
            .resize(function.param_bytes.div_ceil(4) as usize, [0; WARP]);
        for fill in &function.fills {
            let row = match fill.value {
                Value::Local(offset) => {
                    [i64::from(self.local_base).wrapping_add(offset) as u64; WARP]
                }
                Value::Special(special) if differs(special) => {
                    special_row(grid, special, block, rank, warp)
                }
                _ => continue,
            };
            set(&mut self.registers, fill, &row);
        }
    }
}

fn set(registers: &mut Registers, fill: &Fill, row: &[u64; WARP]) {
    match fill.bank {
        Bank::Word => registers.set_words(fill.slot, &row.map(|value| value as u32), !0),
        Bank::Long => registers.set_longs(fill.slot, row, !0),
        Bank::Predicate => {
            registers.set_predicate(fill.slot, if row[0] == 0 { 0 } else { !0 }, !0);
        }
    }
}

/// Whether a special register is not the same in all warps.
fn differs(special: Special) -> bool {
    use Special::{ClusterCtaid, ClusterId, ClusterRank, Ctaid, Multiprocessor, Tid, Warp};
    matches!(
        special,
        Tid(_) | Ctaid(_) | ClusterId(_) | ClusterCtaid(_) | ClusterRank | Warp | Multiprocessor
    )
}

/// The registers of a function with everything that is the same in all warps.
pub(crate) fn template(grid: &Grid<'_>, function: usize) -> Registers {
    let Some(function) = grid.function(function) else {
        return Registers::default();
    };
    let mut registers = Registers {
        words: vec![[0; WARP]; function.words as usize],
        longs: vec![[0; WARP]; function.longs as usize],
        predicates: vec![0; function.predicates as usize],
    };
    for fill in &function.fills {
        let row = match fill.value {
            Value::Special(special) => special_row(grid, special, [0; 3], 0, 0),
            value => [uniform(grid, value); WARP],
        };
        set(&mut registers, fill, &row);
    }
    registers
}

fn uniform(grid: &Grid<'_>, value: Value) -> u64 {
    let moved = |base: u64, offset: i64| base.wrapping_add(offset as u64);
    match value {
        Value::Bits(bits) => bits,
        Value::Variable(index, offset) => {
            moved(grid.variables.get(index).copied().unwrap_or(0), offset)
        }
        Value::Shared(index, offset) => {
            let place = grid
                .shared_places
                .get(index)
                .copied()
                .flatten()
                .unwrap_or(0);
            moved(place.into(), offset)
        }
        Value::Param(offset) => offset as u64,
        Value::Given(start, bytes, signed) => {
            let value = parameter(grid.parameters, start.into(), bytes.into()).unwrap_or(0);
            match (signed, bytes) {
                (true, 1) => value as i8 as u64,
                (true, 2) => value as i16 as u64,
                (true, 4) => value as i32 as u64,
                _ => value,
            }
        }
        Value::Function(index) => index as u64 + 1,
        Value::Local(_) | Value::Special(_) => 0,
    }
}

fn special_row(
    grid: &Grid<'_>,
    special: Special,
    block: [u32; 3],
    rank: u32,
    warp: u32,
) -> [u64; WARP] {
    let of = |extents: [u32; 3], axis: usize| extents.get(axis).copied().unwrap_or(0);
    let shape = &grid.shape;
    let lanes = |f: fn(u32) -> u32| {
        let mut row = [0; WARP];
        for (lane, value) in row.iter_mut().enumerate() {
            *value = u64::from(f(lane as u32));
        }
        row
    };
    let value = match special {
        Special::Tid(axis) => {
            let mut row = [0; WARP];
            if shape.block[1] == 1 && shape.block[2] == 1 {
                let first = if axis == 0 { warp * 32 } else { 0 };
                let step = u64::from(axis == 0);
                for (lane, value) in (0u64..).zip(&mut row) {
                    *value = u64::from(first) + lane * step;
                }
                return row;
            }
            let [mut x, mut y, mut z] = grid.thread_index(warp * 32);
            for value in &mut row {
                *value = of([x, y, z], axis).into();
                x += 1;
                let is_over = x >= shape.block[0];
                (x, y) = if is_over { (0, y + 1) } else { (x, y) };
                let is_over = y >= shape.block[1];
                (y, z) = if is_over { (0, z + 1) } else { (y, z) };
            }
            return row;
        }
        Special::Lane => return lanes(|lane| lane),
        Special::LanesEqual => return lanes(|lane| 1 << lane),
        Special::LanesBelow => return lanes(|lane| (1 << lane) - 1),
        Special::LanesUpTo => return lanes(|lane| !0 >> (31 - lane)),
        Special::LanesAbove => return lanes(|lane| !(!0 >> (31 - lane))),
        Special::LanesFrom => return lanes(|lane| !0 << lane),
        Special::Ntid(axis) => of(shape.block, axis),
        Special::Ctaid(axis) => of(block, axis),
        Special::Nctaid(axis) => of(shape.grid, axis),
        Special::ClusterId(axis) => of(block, axis) / of(shape.cluster, axis).max(1),
        Special::ClusterCount(axis) => of(shape.grid, axis) / of(shape.cluster, axis).max(1),
        Special::ClusterCtaid(axis) => of(grid.rank_index(rank), axis),
        Special::ClusterNctaid(axis) => of(shape.cluster, axis),
        Special::ClusterRank => rank,
        Special::ClusterSize => grid.cluster_size,
        Special::IsExplicitCluster => u32::from(grid.cluster_size > 1),
        Special::Warp => warp,
        Special::WarpCount => 64,
        Special::Multiprocessor => {
            let number = block.iter().fold(0u32, |sum, part| sum.wrapping_add(*part));
            number % grid.options.multiprocessors.max(1)
        }
        Special::MultiprocessorCount => grid.options.multiprocessors,
        Special::Grid => grid.epoch,
        Special::DynamicShared => shape.dynamic_shared,
        Special::TotalShared => grid.shared_bytes,
        Special::ReservedShared | Special::GraphExec => 0,
        // Cooperative groups read the address of their workspace here.
        Special::Environment(1) => (grid.workspace() >> 32) as u32,
        Special::Environment(2) => grid.workspace() as u32,
        Special::Environment(_) => 0,
    };
    [u64::from(value); WARP]
}
