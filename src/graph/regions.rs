//! Which nodes have to wait for which: found from the memory that they touch.

use crate::kernel::Use;
use std::collections::BTreeMap;

/// Why a node waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// It reads what the other has written.
    ReadsWritten { address: u64, bytes: u64 },
    /// It overwrites what the other reads.
    WritesRead { address: u64, bytes: u64 },
    /// It overwrites what the other has written.
    WritesWritten { address: u64, bytes: u64 },
    /// Somebody said so.
    Told,
}

/// An edge: the node that is waited for, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) reason: Reason,
}

/// For each piece of memory: who wrote it last, and who has read it since.
#[derive(Default)]
pub(crate) struct Regions {
    /// By first byte; the pieces do not overlap.
    pieces: BTreeMap<u64, Piece>,
}

#[derive(Clone, Default)]
struct Piece {
    end: u64,
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl Regions {
    /// The nodes that a node with these uses waits for: a read for the last write, a write for the
    /// reads since the last write, or for that when there are none.
    pub(crate) fn edges(&self, uses: &[Use]) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut add = |from: usize, reason: Reason| {
            if !edges.iter().any(|edge| edge.from == from) {
                edges.push(Edge { from, reason });
            }
        };
        for one in uses.iter().filter(|one| one.bytes > 0) {
            for (&start, piece) in self.overlapping(one) {
                let address = start.max(one.address);
                let bytes = piece.end.min(one.end()) - address;
                match (one.is_written, piece.readers.is_empty()) {
                    (true, false) => {
                        for &reader in &piece.readers {
                            add(reader, Reason::WritesRead { address, bytes });
                        }
                    }
                    (true, true) => {
                        if let Some(writer) = piece.writer {
                            add(writer, Reason::WritesWritten { address, bytes });
                        }
                    }
                    (false, _) => {
                        if let Some(writer) = piece.writer {
                            add(writer, Reason::ReadsWritten { address, bytes });
                        }
                    }
                }
            }
        }
        edges
    }

    /// Takes note of a node that has been added.
    pub(crate) fn touch(&mut self, node: usize, uses: &[Use]) {
        // Reads first: of what a node both reads and writes, it is the writer.
        let (writes, reads): (Vec<_>, Vec<_>) = uses
            .iter()
            .filter(|one| one.bytes > 0)
            .partition(|one| one.is_written);
        for one in reads.into_iter().chain(writes) {
            self.cover(one);
            for (_, piece) in self.pieces.range_mut(one.address..one.end()) {
                if one.is_written {
                    (piece.writer, piece.readers) = (Some(node), Vec::new());
                } else if piece.readers.last() != Some(&node) {
                    piece.readers.push(node);
                }
            }
        }
    }

    fn overlapping(&self, one: &Use) -> impl Iterator<Item = (&u64, &Piece)> {
        let (first, end) = (one.address, one.end());
        let before = self.pieces.range(..first).next_back();
        before
            .filter(move |(_, piece)| piece.end > first)
            .into_iter()
            .chain(self.pieces.range(first..end))
    }

    /// Divides pieces so that some begin and end where the use does, and fills the gaps.
    fn cover(&mut self, one: &Use) {
        self.split(one.address);
        self.split(one.end());
        let mut gaps = Vec::new();
        let mut at = one.address;
        for (&start, piece) in self.pieces.range(one.address..one.end()) {
            if at < start {
                gaps.push((at, start));
            }
            at = piece.end;
        }
        if at < one.end() {
            gaps.push((at, one.end()));
        }
        for (start, end) in gaps {
            let piece = Piece {
                end,
                ..Piece::default()
            };
            self.pieces.insert(start, piece);
        }
    }

    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else {
            return;
        };
        if piece.end > at {
            let tail = piece.clone();
            piece.end = at;
            self.pieces.insert(at, tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: u64, bytes: u64) -> Use {
        Use {
            address,
            bytes,
            is_written: false,
        }
    }

    fn write(address: u64, bytes: u64) -> Use {
        Use {
            is_written: true,
            ..read(address, bytes)
        }
    }

    /// The edges of a program, by node.
    fn edges(program: &[Vec<Use>]) -> Vec<Vec<usize>> {
        let mut regions = Regions::default();
        let mut found = Vec::new();
        for (node, uses) in program.iter().enumerate() {
            let mut from: Vec<_> = regions.edges(uses).iter().map(|edge| edge.from).collect();
            from.sort_unstable();
            found.push(from);
            regions.touch(node, uses);
        }
        found
    }

    #[test]
    fn a_read_waits_for_the_last_write_and_a_write_for_the_reads_since() {
        let program = [
            vec![write(0, 8)],
            vec![read(0, 8)],
            vec![read(0, 8)],
            vec![write(0, 8)],
            vec![write(0, 8)],
        ];
        let expected: [&[usize]; 5] = [&[], &[0], &[0], &[1, 2], &[3]];
        assert_eq!(edges(&program), expected);
    }

    #[test]
    fn parts_that_do_not_overlap_are_independent() {
        let program = [
            vec![write(0, 8)],
            vec![write(8, 8)],
            vec![read(4, 8)],
            vec![write(0, 4)],
            vec![read(16, 8)],
        ];
        let expected: [&[usize]; 5] = [&[], &[], &[0, 1], &[0], &[]];
        assert_eq!(edges(&program), expected);
    }

    /// Which nodes come before each, over any number of edges.
    fn closure(edges: &[Vec<usize>]) -> Vec<Vec<bool>> {
        let mut before = vec![vec![false; edges.len()]; edges.len()];
        for (node, from) in edges.iter().enumerate() {
            for &earlier in from {
                before[node][earlier] = true;
                let its = before[earlier].clone();
                for (mine, its) in before[node].iter_mut().zip(its) {
                    *mine |= its;
                }
            }
        }
        before
    }

    #[test]
    fn of_random_programs_the_order_is_that_of_all_pairs_that_conflict() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..500 {
            let nodes = 2 + random(20);
            let program: Vec<Vec<Use>> = (0..nodes)
                .map(|_| {
                    let uses = random(4);
                    let mut any = || Use {
                        address: random(32),
                        bytes: random(12),
                        is_written: random(2) == 0,
                    };
                    (0..uses).map(|_| any()).collect()
                })
                .collect();
            let conflict = |a: &Use, b: &Use| {
                let is_shared = a.address.max(b.address) < a.end().min(b.end());
                is_shared && (a.is_written || b.is_written)
            };
            let all: Vec<Vec<usize>> = (0..program.len())
                .map(|node| {
                    let conflicts = |other: &usize| {
                        let mut pairs = program[node]
                            .iter()
                            .flat_map(|a| program[*other].iter().map(move |b| (a, b)));
                        pairs.any(|(a, b)| conflict(a, b))
                    };
                    (0..node).filter(conflicts).collect()
                })
                .collect();
            assert_eq!(closure(&edges(&program)), closure(&all), "{program:?}");
        }
    }
}
