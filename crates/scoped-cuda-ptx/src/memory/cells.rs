//! Who last wrote and read each word: the evidence of data races.
//!
//! A cell holds the last writer and the last two readers of four bytes. Each is a tag: the epoch (a
//! launch, or a block for shared memory), the warp, the lane, the bytes, and the warp's clock. The
//! clock counts the synchronisations of the warp. Whether an earlier access came before a later one
//! is for the visitor to say, who knows what the later thread has synchronised with.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Words in a chunk. Chunks come into being when they are touched.
const CHUNK: usize = 1 << 12;
/// Words in a line.
const LINE: usize = 32;
/// A clock that has come so far stands still, and decides nothing.
pub(crate) const CLOCK_MAX: u32 = 0xFFFF;

/// An access: who, when, to which bytes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

const LANE: u32 = 16;
const BYTES: u32 = 21;
const STRONG: u32 = 25;
const WARP: u32 = 26;
const EPOCH: u32 = 46;
/// The bits of epochs and of warps.
const EPOCH_MASK: u32 = 0x3_FFFF;
pub(crate) const WARP_MASK: u32 = 0xF_FFFF;

impl Tag {
    pub(crate) fn new(epoch: u32, warp: u32, lane: u32, clock: u32, is_strong: bool) -> Self {
        Self(
            u64::from(epoch & EPOCH_MASK) << EPOCH
                | u64::from(warp & WARP_MASK) << WARP
                | u64::from(is_strong) << STRONG
                | u64::from(lane & 31) << LANE
                | u64::from(clock.min(CLOCK_MAX)),
        )
    }

    fn with_bytes(self, bytes: u32) -> Self {
        Self(self.0 | u64::from(bytes & 0xF) << BYTES)
    }

    /// The same access by another lane.
    #[inline(always)]
    pub(crate) fn with_lane(self, lane: u32) -> Self {
        Self(self.0 & !(31 << LANE) | u64::from(lane) << LANE)
    }

    fn epoch(self) -> u64 {
        self.0 >> EPOCH
    }

    pub(crate) fn warp(self) -> u32 {
        (self.0 >> WARP) as u32 & WARP_MASK
    }

    pub(crate) fn lane(self) -> u32 {
        (self.0 >> LANE) as u32 & 31
    }

    pub(crate) fn clock(self) -> u32 {
        self.0 as u32 & CLOCK_MAX
    }

    fn is_strong(self) -> bool {
        self.0 >> STRONG & 1 == 1
    }

    fn bytes(self) -> u64 {
        self.0 >> BYTES & 0xF
    }

    /// Whether both are of one thread.
    #[inline(always)]
    fn is_same_thread(self, other: Self) -> bool {
        const THREAD: u64 = !0 << WARP | 31 << LANE;
        (self.0 ^ other.0) & THREAD == 0
    }
}

/// Two accesses without order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The earlier one.
    pub(crate) earlier: Tag,
    pub(crate) was_write: bool,
}

/// Tells whether an earlier access came before what the visiting thread does now.
pub(crate) trait Visitor {
    fn is_ordered(&self, earlier: Tag, now: Tag) -> bool;
}

/// The evidence of one word, or of a line of 32 words that warps access as rows: lane `n` the
/// `n`-th word.
#[derive(Debug, Default)]
struct Cell {
    writer: AtomicU64,
    reader: AtomicU64,
    /// The last reader of another thread, or of another warp.
    other: AtomicU64,
}

/// A line. Its words have cells of their own, which count when it was accessed in another way too.
#[derive(Debug, Default)]
struct Line {
    row: Cell,
    /// The epoch in which a word of it was last accessed by itself.
    words: AtomicU64,
}

#[derive(Debug)]
struct Chunk {
    lines: Box<[Line]>,
    words: OnceLock<Box<[Cell]>>,
}

/// The cells of an allocation.
#[derive(Debug)]
pub(crate) struct Cells {
    chunks: Box<[OnceLock<Chunk>]>,
    /// Epochs repeat. When they do, cells of the last round are forgotten.
    round: AtomicU32,
}

#[inline(always)]
fn load(cell: &AtomicU64) -> Tag {
    Tag(cell.load(Ordering::Relaxed))
}

impl Cell {
    fn forget(&self) {
        self.writer.store(0, Ordering::Relaxed);
        self.reader.store(0, Ordering::Relaxed);
        self.other.store(0, Ordering::Relaxed);
    }

    /// A conflict with a write, or with a read if this is a write. `as_of` makes a row's tag one of
    /// the lane.
    #[inline(always)]
    fn conflict(
        &self,
        now: Tag,
        is_write: bool,
        visitor: &impl Visitor,
        as_of: impl Fn(Tag) -> Tag,
    ) -> Option<Conflict> {
        let found = conflict(as_of(load(&self.writer)), now, visitor, true);
        if found.is_some() || !is_write {
            return found;
        }
        conflict(as_of(load(&self.reader)), now, visitor, false)
            .or_else(|| conflict(as_of(load(&self.other)), now, visitor, false))
    }

    #[inline(always)]
    fn note(&self, now: Tag, is_write: bool) {
        if is_write {
            self.writer.store(now.0, Ordering::Relaxed);
            return;
        }
        let last = load(&self.reader);
        if last.epoch() == now.epoch() && !last.is_same_thread(now) {
            self.other.store(last.0, Ordering::Relaxed);
        }
        self.reader.store(now.0, Ordering::Relaxed);
    }
}

impl Cells {
    pub(crate) fn new(bytes: u64) -> Self {
        let chunks = bytes.div_ceil(4 * CHUNK as u64);
        Self {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            round: AtomicU32::new(0),
        }
    }

    /// Forgets all, when the round of epochs is another one.
    pub(crate) fn start(&self, epoch: u32) {
        let round = epoch / (EPOCH_MASK + 1);
        if self.round.swap(round, Ordering::Relaxed) == round {
            return;
        }
        for chunk in self.chunks.iter().filter_map(OnceLock::get) {
            for line in &chunk.lines {
                line.row.forget();
                line.words.store(0, Ordering::Relaxed);
            }
            for cell in chunk.words.get().into_iter().flatten() {
                cell.forget();
            }
        }
    }

    #[inline(always)]
    fn chunk(&self, word: usize) -> Option<&Chunk> {
        let chunk = self.chunks.get(word / CHUNK)?;
        Some(chunk.get_or_init(|| Chunk {
            lines: (0..CHUNK / LINE).map(|_| Line::default()).collect(),
            words: OnceLock::new(),
        }))
    }

    /// Visits the words of several lanes.
    pub(crate) fn walk(&self) -> Walker<'_> {
        Walker {
            cells: self,
            number: usize::MAX,
            lines: &[],
            words: &[],
            last: usize::MAX,
            run: 0,
        }
    }

    /// Notes that each lane accesses the next word, if no access before is without order to it.
    /// Whether it was noted: it is not when the words are no line.
    #[inline(always)]
    pub(crate) fn visit_row(
        &self,
        offset: u64,
        is_write: bool,
        now: Tag,
        visitor: &impl Visitor,
    ) -> bool {
        if offset % (4 * LINE as u64) != 0 {
            return false;
        }
        let word = (offset / 4) as usize;
        let line = self
            .chunk(word)
            .and_then(|chunk| chunk.lines.get(word % CHUNK / LINE));
        let Some(line) = line else {
            return false;
        };
        // Both tags are of lane 0: they are of one thread if they are of one warp.
        let now = now.with_bytes(0xF).with_lane(0);
        let has_words = line.words.load(Ordering::Relaxed) == now.epoch();
        if has_words
            || line
                .row
                .conflict(now, is_write, visitor, |tag| tag)
                .is_some()
        {
            return false;
        }
        line.row.note(now, is_write);
        true
    }
}

/// A visit of one lane after the other.
pub(crate) struct Walker<'c> {
    cells: &'c Cells,
    /// The chunk that was last looked at.
    number: usize,
    lines: &'c [Line],
    words: &'c [Cell],
    /// The word that was last read as a whole, and by how many lanes.
    last: usize,
    run: u32,
}

impl<'c> Walker<'c> {
    fn enter(&mut self, number: usize) -> Option<()> {
        if self.number != number {
            let chunk: &'c Chunk = self.cells.chunk(number * CHUNK)?;
            self.lines = &chunk.lines;
            self.words = chunk
                .words
                .get_or_init(|| (0..CHUNK).map(|_| Cell::default()).collect());
            self.number = number;
        }
        Some(())
    }

    /// Notes an access of bytes from an offset. An access without order to it is a conflict.
    #[inline(always)]
    pub(crate) fn visit(
        &mut self,
        offset: u64,
        bytes: u32,
        is_write: bool,
        now: Tag,
        visitor: &impl Visitor,
    ) -> Option<Conflict> {
        let mut found = None;
        for (word, part) in words(offset, bytes) {
            if !is_write && part == 0xF {
                // When two lanes may read a word, all may, and two readers are enough to remember.
                self.run = if word == self.last { self.run + 1 } else { 1 };
                self.last = word;
                if self.run > 2 {
                    continue;
                }
            }
            self.enter(word / CHUNK)?;
            let line = self.lines.get(word % CHUNK / LINE)?;
            let cell = self.words.get(word % CHUNK)?;
            let now = now.with_bytes(part);
            let lane = (word % LINE) as u32;
            found = found
                .or_else(|| {
                    line.row
                        .conflict(now, is_write, visitor, |tag| tag.with_lane(lane))
                })
                .or_else(|| cell.conflict(now, is_write, visitor, |tag| tag));
            cell.note(now, is_write);
            if line.words.load(Ordering::Relaxed) != now.epoch() {
                line.words.store(now.epoch(), Ordering::Relaxed);
            }
        }
        found
    }

    /// Notes that lanes, one after the other, access words, one after the other, so many by each,
    /// if no access before is without order to it. Whether it was noted.
    #[inline(always)]
    pub(crate) fn visit_run<const WORDS: usize>(
        &mut self,
        offset: u64,
        lanes: usize,
        is_write: bool,
        now: Tag,
        visitor: &impl Visitor,
    ) -> bool {
        let (first, count) = ((offset / 4) as usize, lanes * WORDS);
        let (start, end) = (first % CHUNK, first % CHUNK + count);
        if end > CHUNK || count == 0 || self.enter(first / CHUNK).is_none() {
            return false;
        }
        let lines = self.lines.get(start / LINE..=(end - 1) / LINE);
        let (Some(lines), Some(words)) = (lines, self.words.get(start..end)) else {
            return false;
        };
        let now = now.with_bytes(0xF);
        let is_open = |tag: Tag| tag.epoch() == now.epoch() && !visitor.is_ordered(tag, now);
        for line in lines {
            let row = &line.row;
            let is_read = is_write && (is_open(load(&row.reader)) || is_open(load(&row.other)));
            if is_read || is_open(load(&row.writer)) {
                return false;
            }
            if line.words.load(Ordering::Relaxed) != now.epoch() {
                line.words.store(now.epoch(), Ordering::Relaxed);
            }
        }
        let tags = (now.lane()..).map(|lane| now.with_lane(lane));
        let lanes = words.chunks_exact(WORDS).zip(tags);
        let is_free = |cell: &Cell, now| cell.conflict(now, is_write, visitor, |tag| tag).is_none();
        for (cells, now) in lanes.clone() {
            if !cells.iter().all(|cell| is_free(cell, now)) {
                return false;
            }
        }
        for (cells, now) in lanes {
            for cell in cells {
                cell.note(now, is_write);
            }
        }
        true
    }
}

/// The words of a range, each with the bytes that belong to it.
#[inline(always)]
fn words(offset: u64, bytes: u32) -> impl Iterator<Item = (usize, u32)> {
    let (first, low) = ((offset / 4) as usize, (offset % 4) as u32);
    let count = (low + bytes).div_ceil(4) as usize;
    let part = if bytes >= 4 {
        0xF
    } else {
        ((1u32 << bytes) - 1) << low
    };
    (first..first + count).map(move |word| (word, part))
}

#[inline(always)]
fn conflict(earlier: Tag, now: Tag, visitor: &impl Visitor, was_write: bool) -> Option<Conflict> {
    if earlier.epoch() != now.epoch()
        || earlier.is_same_thread(now)
        || earlier.bytes() & now.bytes() == 0
        || (earlier.is_strong() && now.is_strong())
        || visitor.is_ordered(earlier, now)
    {
        return None;
    }
    Some(Conflict { earlier, was_write })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses before a clock are ordered.
    struct Until(u32);

    impl Visitor for Until {
        fn is_ordered(&self, earlier: Tag, _: Tag) -> bool {
            earlier.clock() < self.0
        }
    }

    fn thread(warp: u32, lane: u32, clock: u32) -> Tag {
        Tag::new(5, warp, lane, clock, false)
    }

    #[test]
    fn a_conflict_needs_two_threads_a_write_and_no_order() {
        let cells = Cells::new(1024);
        let visit = |offset, bytes, is_write, now, known| {
            cells
                .walk()
                .visit(offset, bytes, is_write, now, &Until(known))
                .is_some()
        };
        assert!(!visit(8, 4, true, thread(0, 0, 1), 0));
        assert!(!visit(8, 4, false, thread(0, 0, 1), 0), "the same thread");
        assert!(visit(8, 4, false, thread(0, 1, 1), 0), "another lane");
        assert!(!visit(8, 4, false, thread(1, 0, 1), 2), "ordered");
        assert!(visit(8, 1, true, thread(2, 0, 1), 1), "a write after reads");
        assert!(
            !visit(9, 1, true, thread(3, 0, 3), 3),
            "another byte, and ordered before"
        );
        assert!(!visit(12, 4, true, thread(3, 0, 3), 0), "another word");
    }

    #[test]
    fn rows_and_words_know_of_each_other() {
        let cells = Cells::new(1024);
        assert!(cells.visit_row(128, true, thread(0, 0, 1), &Until(0)));
        assert!(
            cells.visit_row(128, false, thread(0, 0, 1), &Until(0)),
            "the same lanes"
        );
        assert!(
            !cells.visit_row(128, false, thread(1, 0, 1), &Until(0)),
            "another warp"
        );
        let visit = |offset, now| cells.walk().visit(offset, 4, false, now, &Until(0));
        assert!(
            visit(132, thread(0, 1, 1)).is_none(),
            "the lane that wrote the word"
        );
        assert!(visit(132, thread(0, 2, 1)).is_some(), "another lane");
        assert!(
            !cells.visit_row(128, true, thread(0, 0, 1), &Until(0)),
            "words were read"
        );
        assert!(
            !cells.visit_row(4, true, thread(0, 0, 1), &Until(0)),
            "no line"
        );
    }

    #[test]
    fn what_is_noted_is_forgotten_before_epochs_repeat() {
        let cells = Cells::new(64);
        let visit = |epoch, warp| {
            let now = Tag::new(epoch, warp, 0, 1, false);
            cells.start(epoch);
            cells.walk().visit(0, 4, true, now, &Until(0)).is_some()
        };
        assert!(!visit(5, 0));
        assert!(visit(5, 1));
        assert!(!visit(6, 2), "another epoch");
        assert!(!visit(6 + EPOCH_MASK + 1, 3), "an epoch with the same bits");
    }
}
