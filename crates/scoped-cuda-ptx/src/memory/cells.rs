//! Who last wrote and read each word: the evidence of data races.
//!
//! A cell holds the last writer and the last two readers of four bytes. Each is a tag: the epoch (a
//! launch, or a block for shared memory), the warp, the lane, the bytes, and the warp's clock. The clock
//! counts the synchronisations of the warp. Whether an earlier access came before a later one is for
//! the visitor to say, who knows what the later thread has synchronised with.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Words in a chunk. Chunks come into being when they are touched.
const CHUNK: usize = 1 << 12;
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

#[derive(Debug, Default)]
struct Cell {
    writer: AtomicU64,
    reader: AtomicU64,
    /// The last reader of another thread.
    other: AtomicU64,
}

/// The cells of an allocation.
#[derive(Debug)]
pub(crate) struct Cells {
    chunks: Box<[OnceLock<Box<[Cell]>>]>,
    /// Epochs repeat. When they do, cells of the last round are forgotten.
    round: AtomicU32,
}

#[inline(always)]
fn load(cell: &AtomicU64) -> Tag {
    Tag(cell.load(Ordering::Relaxed))
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
            for cell in chunk {
                cell.writer.store(0, Ordering::Relaxed);
                cell.reader.store(0, Ordering::Relaxed);
                cell.other.store(0, Ordering::Relaxed);
            }
        }
    }

    #[inline(always)]
    fn cell(&self, word: usize) -> Option<&Cell> {
        let chunk = self.chunks.get(word / CHUNK)?;
        let cells = chunk.get_or_init(|| (0..CHUNK).map(|_| Cell::default()).collect());
        cells.get(word % CHUNK)
    }

    /// Notes a read of bytes from an offset, at most eight words.
    #[inline(always)]
    pub(crate) fn read(
        &self,
        offset: u64,
        bytes: u32,
        now: Tag,
        visitor: &impl Visitor,
    ) -> Option<Conflict> {
        for (word, part) in words(offset, bytes) {
            let cell = self.cell(word)?;
            let now = now.with_bytes(part);
            let conflict = conflict(load(&cell.writer), now, visitor, true);
            if conflict.is_some() {
                return conflict;
            }
            let last = load(&cell.reader);
            if !last.is_same_thread(now) {
                cell.other.store(last.0, Ordering::Relaxed);
            }
            cell.reader.store(now.0, Ordering::Relaxed);
        }
        None
    }

    /// The cells of a whole warp's words, one after the other, when they are in one chunk.
    #[inline(always)]
    fn row(&self, word: usize) -> Option<&[Cell]> {
        let chunk = self.chunks.get(word / CHUNK)?;
        let cells = chunk.get_or_init(|| (0..CHUNK).map(|_| Cell::default()).collect());
        cells.get(word % CHUNK..word % CHUNK + 32)
    }

    /// Notes that each lane reads the next word. `None` says that it was not done.
    #[inline(always)]
    pub(crate) fn read_row(
        &self,
        offset: u64,
        now: Tag,
        visitor: &impl Visitor,
    ) -> Option<Option<Conflict>> {
        let row = self.row((offset / 4) as usize)?;
        let mut found = None;
        for (lane, cell) in row.iter().enumerate() {
            let now = now.with_lane(lane as u32).with_bytes(0xF);
            let writer = load(&cell.writer);
            if writer.epoch() == now.epoch() {
                found = found.or_else(|| conflict(writer, now, visitor, true));
            }
            let last = load(&cell.reader);
            if !last.is_same_thread(now) {
                cell.other.store(last.0, Ordering::Relaxed);
            }
            cell.reader.store(now.0, Ordering::Relaxed);
        }
        Some(found)
    }

    /// Notes that each lane writes the next word, if no access before is without order to it.
    #[inline(always)]
    pub(crate) fn can_write_row(
        &self,
        offset: u64,
        now: Tag,
        visitor: &impl Visitor,
    ) -> Option<bool> {
        let row = self.row((offset / 4) as usize)?;
        let mut is_free = true;
        for (lane, cell) in row.iter().enumerate() {
            let now = now.with_lane(lane as u32).with_bytes(0xF);
            for earlier in [load(&cell.writer), load(&cell.reader), load(&cell.other)] {
                let is_recent = earlier.epoch() == now.epoch();
                is_free &= !is_recent || conflict(earlier, now, visitor, true).is_none();
            }
        }
        if !is_free {
            return Some(false);
        }
        for (lane, cell) in row.iter().enumerate() {
            let now = now.with_lane(lane as u32).with_bytes(0xF);
            cell.writer.store(now.0, Ordering::Relaxed);
        }
        Some(true)
    }

    /// Notes a write of bytes from an offset.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        offset: u64,
        bytes: u32,
        now: Tag,
        visitor: &impl Visitor,
    ) -> Option<Conflict> {
        let mut found = None;
        for (word, part) in words(offset, bytes) {
            let cell = self.cell(word)?;
            let now = now.with_bytes(part);
            found = found
                .or_else(|| conflict(load(&cell.writer), now, visitor, true))
                .or_else(|| conflict(load(&cell.reader), now, visitor, false))
                .or_else(|| conflict(load(&cell.other), now, visitor, false));
            cell.writer.store(now.0, Ordering::Relaxed);
        }
        found
    }
}

/// The words of a range, each with the bytes that belong to it.
#[inline(always)]
fn words(offset: u64, bytes: u32) -> impl Iterator<Item = (usize, u32)> {
    let (first, low) = ((offset / 4) as usize, (offset % 4) as u32);
    let count = (low + bytes).div_ceil(4) as usize;
    let part = if bytes >= 4 { 0xF } else { ((1u32 << bytes) - 1) << low };
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
