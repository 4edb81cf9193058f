//! Which bytes of an allocation have been written.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Words of bits in a chunk. Chunks come into being when they are touched.
const CHUNK: usize = 1 << 9;

type Chunk = Box<[AtomicU64]>;

/// A bit per byte.
#[derive(Debug)]
pub(crate) struct Shadow {
    chunks: Box<[OnceLock<Chunk>]>,
    bytes: u64,
    /// Every byte has been written: the bits need not be looked at.
    is_full: AtomicBool,
}

/// The bits of a word from a place on, at most up to its end, and how many there are.
fn part(start: u64, end: u64) -> (usize, u64, u64) {
    let (word, low) = (start / 64, start % 64);
    let count = (end - start).min(64 - low);
    let ones = if count == 64 { !0 } else { (1 << count) - 1 };
    (word as usize, ones << low, count)
}

impl Shadow {
    pub(crate) fn new(bytes: u64) -> Self {
        let chunks = bytes.div_ceil(64 * CHUNK as u64);
        Self {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            bytes,
            is_full: AtomicBool::new(bytes == 0),
        }
    }

    /// The bits of a word. A chunk that was not touched has none.
    #[inline(always)]
    fn bits(&self, word: usize) -> u64 {
        let chunk = self.chunks.get(word / CHUNK).and_then(OnceLock::get);
        let bits = chunk.and_then(|chunk| chunk.get(word % CHUNK));
        bits.map_or(0, |bits| bits.load(Ordering::Relaxed))
    }

    /// A word of bits, to be changed.
    fn word(&self, word: usize) -> Option<&AtomicU64> {
        let chunk = self.chunks.get(word / CHUNK)?;
        let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        chunk.get(word % CHUNK)
    }

    /// Whether every byte is known to be written.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, range: Range<u64>) {
        if self.is_full.load(Ordering::Relaxed) {
            return;
        }
        if range.start == 0 && range.end >= self.bytes {
            self.is_full.store(true, Ordering::Relaxed);
        }
        let end = range.end.min(self.bytes);
        let mut start = range.start;
        while start < end {
            let (word, mask, count) = part(start, end);
            if self.bits(word) & mask != mask {
                if let Some(bits) = self.word(word) {
                    bits.fetch_or(mask, Ordering::Relaxed);
                }
            }
            start += count;
        }
    }

    /// Whether 1, 2, 4, 8, 16 or 32 bytes at an aligned offset are written.
    #[inline(always)]
    pub(crate) fn covers(&self, offset: u64, bytes: u32) -> bool {
        let mask = ((1u64 << (bytes & 63)) - 1) << (offset % 64);
        self.bits((offset / 64) as usize) & mask == mask || self.is_full()
    }

    /// Notes that so many bytes at an aligned offset are written.
    #[inline(always)]
    pub(crate) fn cover(&self, offset: u64, bytes: u32) {
        if !self.is_full() && !self.covers(offset, bytes) {
            self.set(offset..offset + u64::from(bytes));
        }
    }

    /// Forgets that bytes were written.
    pub(crate) fn clear(&self, range: Range<u64>) {
        if self.is_full.load(Ordering::Relaxed) {
            for chunk in &self.chunks {
                for bits in chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect()) {
                    bits.store(!0, Ordering::Relaxed);
                }
            }
            self.is_full.store(self.bytes == 0, Ordering::Relaxed);
        }
        let end = range.end.min(self.bytes);
        let mut start = range.start;
        while start < end {
            let (word, mask, count) = part(start, end);
            if self.bits(word) & mask != 0 {
                if let Some(bits) = self.word(word) {
                    bits.fetch_and(!mask, Ordering::Relaxed);
                }
            }
            start += count;
        }
    }

    pub(crate) fn is_set(&self, range: Range<u64>) -> bool {
        if self.is_full.load(Ordering::Relaxed) {
            return true;
        }
        let mut start = range.start;
        while start < range.end {
            let (word, mask, count) = part(start, range.end);
            if self.bits(word) & mask != mask {
                return false;
            }
            start += count;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_over_words_are_kept() {
        let shadow = Shadow::new(300);
        shadow.set(60..200);
        assert!(shadow.is_set(60..200) && shadow.is_set(100..100));
        assert!(!shadow.is_set(59..61) && !shadow.is_set(199..201));
        shadow.clear(128..129);
        assert!(!shadow.is_set(120..130) && shadow.is_set(129..200));
        shadow.set(0..300);
        assert!(shadow.is_set(0..300));
        shadow.clear(5..6);
        assert!(!shadow.is_set(5..6) && shadow.is_set(6..300));
    }
}
