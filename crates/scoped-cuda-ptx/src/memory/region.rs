//! Allocations, as the host provides them.

use super::{Cells, Shadow};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The memory of a launch: it finds what an address points into.
///
/// A launch asks rarely: it remembers what it has found.
pub trait Memory: Sync {
    /// The allocation that holds the address. One that was freed may still be told.
    fn region(&self, address: u64) -> Option<Arc<Region>>;

    /// An allocation near the address, for a report of an access outside all of them.
    fn nearest(&self, address: u64) -> Option<Arc<Region>>;
}

/// Where the bytes of an allocation are: words in the order of addresses, each little-endian.
///
/// Threads of several blocks read and write them at the same time, so they are atomics.
pub trait Storage: Send + Sync {
    /// The words. There are as many at every call.
    fn words(&self) -> &[AtomicU32];
}

impl Storage for Box<[AtomicU32]> {
    fn words(&self) -> &[AtomicU32] {
        self
    }
}

impl Storage for Vec<AtomicU32> {
    fn words(&self) -> &[AtomicU32] {
        self
    }
}

/// An allocation: its addresses, its bytes, and what is known of them.
pub struct Region {
    base: u64,
    bytes: u64,
    storage: Box<dyn Storage>,
    shadow: Shadow,
    cells: Cells,
    label: String,
    is_constant: bool,
    is_freed: AtomicBool,
}

impl Region {
    /// An allocation at an address, of so many bytes. `label` says in a report what it is and who
    /// allocated it. No byte counts as written.
    ///
    /// Bytes without a word in the storage cannot be accessed.
    pub fn new(base: u64, bytes: u64, storage: Box<dyn Storage>, label: impl Into<String>) -> Self {
        let bytes = bytes.min(storage.words().len() as u64 * 4);
        Self {
            base,
            bytes,
            storage,
            shadow: Shadow::new(bytes),
            cells: Cells::new(bytes),
            label: label.into(),
            is_constant: false,
            is_freed: AtomicBool::new(false),
        }
    }

    /// An allocation with memory of its own, filled with a byte.
    pub fn owned(base: u64, bytes: u64, fill: u8, label: impl Into<String>) -> Self {
        let word = u32::from_le_bytes([fill; 4]);
        let words: Box<[AtomicU32]> = (0..bytes.div_ceil(4))
            .map(|_| AtomicU32::new(word))
            .collect();
        Self::new(base, bytes, Box::new(words), label)
    }

    /// The same allocation, which kernels only read: constant memory.
    #[must_use]
    pub fn constant(mut self) -> Self {
        self.is_constant = true;
        self
    }

    /// Its first address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it is and who allocated it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether kernels may not write it.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// Whether it was freed.
    pub fn is_freed(&self) -> bool {
        self.is_freed.load(Ordering::Relaxed)
    }

    /// Notes that it was freed. Accesses from now on are findings.
    pub fn free(&self) {
        self.is_freed.store(true, Ordering::Relaxed);
    }

    /// Notes that bytes from an offset on were written.
    pub fn set_initialised(&self, range: Range<u64>) {
        self.shadow.set(range);
    }

    /// Notes that bytes from an offset on hold nothing any more.
    pub fn clear_initialised(&self, range: Range<u64>) {
        self.shadow.clear(range);
    }

    /// Whether all bytes of a range of offsets were written.
    pub fn is_initialised(&self, range: Range<u64>) -> bool {
        self.shadow.is_set(range)
    }

    /// Writes bytes at an offset and notes that they are written. What lies beyond the end is left
    /// out.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        let kept = bytes
            .len()
            .min(usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(0));
        let bytes = bytes.get(..kept).unwrap_or(bytes);
        let head = bytes.len().min((offset.wrapping_neg() % 4) as usize);
        let (head, rest) = bytes.split_at(head);
        let words = rest.chunks_exact(4);
        let tail = words.remainder();
        let first = offset + head.len() as u64;
        let end = first + (rest.len() - tail.len()) as u64;
        for (place, byte) in (offset..).zip(head).chain((end..).zip(tail)) {
            self.put(place, 1, u64::from(*byte));
        }
        let places = self.words().iter().skip((first / 4) as usize);
        for (place, word) in places.zip(words) {
            let word = <[u8; 4]>::try_from(word).map_or(0, u32::from_le_bytes);
            place.store(word, Ordering::Relaxed);
        }
        self.set_initialised(offset..offset.saturating_add(bytes.len() as u64));
    }

    /// Reads bytes at an offset. What lies beyond the end is zero.
    pub fn read(&self, offset: u64, bytes: usize) -> Vec<u8> {
        let places = (0..bytes as u64).map(|n| offset.saturating_add(n));
        let byte = |place| {
            if place < self.bytes {
                self.get(place, 1) as u8
            } else {
                0
            }
        };
        places.map(byte).collect()
    }

    pub(crate) fn words(&self) -> &[AtomicU32] {
        self.storage.words()
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(crate) fn shadow(&self) -> &Shadow {
        &self.shadow
    }

    /// Whether every byte is known to be written.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.shadow.is_full()
    }

    /// Reads 1, 2, 4 or 8 bytes at an aligned offset.
    #[inline(always)]
    pub(crate) fn get(&self, offset: u64, bytes: u32) -> u64 {
        get(self.words(), offset, bytes)
    }

    /// Writes 1, 2, 4 or 8 bytes at an aligned offset.
    #[inline(always)]
    pub(crate) fn put(&self, offset: u64, bytes: u32, value: u64) {
        put(self.words(), offset, bytes, value);
    }
}

#[inline(always)]
pub(crate) fn get(words: &[AtomicU32], offset: u64, bytes: u32) -> u64 {
    let place = (offset / 4) as usize;
    let word = |place: usize| {
        words
            .get(place)
            .map_or(0, |word| word.load(Ordering::Relaxed))
    };
    match bytes {
        4 => u64::from(word(place)),
        8 => u64::from(word(place)) | u64::from(word(place + 1)) << 32,
        2 => u64::from((word(place) >> (8 * (offset & 2))) as u16),
        _ => u64::from((word(place) >> (8 * (offset & 3))) as u8),
    }
}

#[inline(always)]
pub(crate) fn put(words: &[AtomicU32], offset: u64, bytes: u32, value: u64) {
    let place = (offset / 4) as usize;
    let store = |place: usize, value: u64| {
        if let Some(word) = words.get(place) {
            word.store(value as u32, Ordering::Relaxed);
        }
    };
    match bytes {
        4 => store(place, value),
        8 => {
            store(place, value);
            store(place + 1, value >> 32);
        }
        _ => {
            let (ones, low) = match bytes {
                2 => (0xFFFF, 8 * (offset & 2)),
                _ => (0xFF, 8 * (offset & 3)),
            };
            if let Some(word) = words.get(place) {
                let (mask, bits) = (ones << low, (value as u32 & ones) << low);
                let change = |old: u32| Some(old & !mask | bits);
                let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_where_they_belong() {
        for offset in 0..6 {
            for count in 0..12 {
                let region = Region::owned(0, 16, 0xEE, "bytes");
                let bytes: Vec<u8> = (1..=count).collect();
                region.write(offset, &bytes);
                let mut expected = vec![0xEE; 16];
                for (place, byte) in bytes.iter().enumerate() {
                    if let Some(to) = expected.get_mut(offset as usize + place) {
                        *to = *byte;
                    }
                }
                assert_eq!(region.read(0, 16), expected);
                assert_eq!(region.read(14, 4), [expected[14], expected[15], 0, 0]);
            }
        }
    }
}
