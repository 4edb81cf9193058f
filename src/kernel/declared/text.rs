//! PTX text in which a byte is found sixteen at a time.
//!
//! A program that is evaluated by the compiler takes about a fifth of a microsecond for each step
//! (measured), so megabytes of text cannot be read byte by byte there. Here a step is a word of 16
//! bytes, or a row of 8 such words: the bits of all its bytes are compared at once.

#![allow(unsafe_code)] // views bytes as words

use std::{slice, str};

/// Sixteen bytes, wherever they lie.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Word(u128);

/// Eight words that follow each other.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Row(u128, u128, u128, u128, u128, u128, u128, u128);

static_assertions::const_assert_eq!(size_of::<Row>(), 8 * size_of::<Word>());

/// The same byte sixteen times: a literal, because a function looks each named constant up
/// whenever it is called.
macro_rules! all {
    (LOW) => {
        0x7f7f_7f7f_7f7f_7f7f_7f7f_7f7f_7f7f_7f7f_u128
    };
    (HIGH) => {
        0x8080_8080_8080_8080_8080_8080_8080_8080_u128
    };
    // `{` to the highest bit: so come `{`, `|`, `}`, `~` and DEL there, and nothing else.
    (FROM_BRACE) => {
        0x0505_0505_0505_0505_0505_0505_0505_0505_u128
    };
    // `!` to the highest bit, and what comes after it: all but blanks and controls.
    (FROM_VISIBLE) => {
        0x5f5f_5f5f_5f5f_5f5f_5f5f_5f5f_5f5f_5f5f_u128
    };
    // 8 to the highest bit.
    (FROM_EIGHT) => {
        0x7878_7878_7878_7878_7878_7878_7878_7878_u128
    };
    ('"') => {
        0x2222_2222_2222_2222_2222_2222_2222_2222_u128
    };
    ('/') => {
        0x2f2f_2f2f_2f2f_2f2f_2f2f_2f2f_2f2f_2f2f_u128
    };
    ('[') => {
        0x5b5b_5b5b_5b5b_5b5b_5b5b_5b5b_5b5b_5b5b_u128
    };
    (';') => {
        0x3b3b_3b3b_3b3b_3b3b_3b3b_3b3b_3b3b_3b3b_u128
    };
    // The first of `( ) * + , - . /`.
    ('(') => {
        0x2828_2828_2828_2828_2828_2828_2828_2828_u128
    };
    ($byte:expr) => {
        $byte as u128 * 0x0101_0101_0101_0101_0101_0101_0101_0101_u128
    };
}

/// PTX text, as the reader of declarations sees it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// UTF-8.
    pub(super) bytes: &'a [u8],
    words: &'a [Word],
    rows: &'a [Row],
}

/// The highest bit of each byte that is a brace, `|`, `~`, a quote or a slash; also of some that
/// are not ASCII. The other bits mean nothing. Sums of bytes below 0x80 do not carry into the next.
macro_rules! marks {
    ($word:expr) => {{
        let low = $word & all!(LOW);
        (low + all!(FROM_BRACE))
            | !(((low ^ all!('"')) + all!(LOW)) & ((low ^ all!('/')) + all!(LOW)))
    }};
}

/// The bits of a byte of a word, and of those after it.
macro_rules! from_byte {
    ($byte:expr) => {
        if cfg!(target_endian = "little") {
            !0_u128 << ($byte % 16 * 8)
        } else {
            !0_u128 >> ($byte % 16 * 8)
        }
    };
}

impl<'a> Text<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (start, words) = (bytes.as_ptr(), bytes.len() / 16);
        // SAFETY: so many whole words lie in the bytes; they need no alignment, and any bytes are
        // a word.
        let words = unsafe { slice::from_raw_parts(start.cast(), words) };
        // SAFETY: the same of rows.
        let rows = unsafe { slice::from_raw_parts(start.cast(), words.len() / 8) };
        Self { bytes, words, rows }
    }

    /// The first place from `from` on where a brace, a quote or a slash may stand, or the end.
    pub(super) const fn mark(&self, from: usize) -> usize {
        let words = self.words;
        let (mut word, mut mask) = (from / 16, from_byte!(from));
        while word < words.len() {
            if word % 8 == 0 && mask == !0 {
                word = self.row_with_mark(word / 8) * 8;
                if word >= words.len() {
                    break;
                }
            }
            let found = marks!(words[word].0) & all!(HIGH) & mask;
            if found != 0 {
                return word * 16 + first(found);
            }
            (word, mask) = (word + 1, !0);
        }
        self.last(from, b"{}\"/")
    }

    /// The first row from this one on with a mark in it.
    const fn row_with_mark(&self, mut row: usize) -> usize {
        let rows = self.rows;
        while row < rows.len() {
            let Row(a, b, c, d, e, f, g, h) = rows[row];
            let found = marks!(a) | marks!(b) | marks!(c) | marks!(d);
            let found = found | marks!(e) | marks!(f) | marks!(g) | marks!(h);
            if found & all!(HIGH) != 0 {
                return row;
            }
            row += 1;
        }
        row
    }

    /// The first place from `from` on where one of three bytes stands, or the end.
    pub(super) const fn any(&self, from: usize, bytes: [u8; 3]) -> usize {
        let (a, b, c) = (all!(bytes[0]), all!(bytes[1]), all!(bytes[2]));
        let words = self.words;
        let (mut word, mut mask) = (from / 16, from_byte!(from));
        while word < words.len() {
            let here = words[word].0;
            let low = here & all!(LOW);
            let others = ((low ^ a) + all!(LOW)) & ((low ^ b) + all!(LOW));
            let others = others & ((low ^ c) + all!(LOW)) | here;
            let found = !others & all!(HIGH) & mask;
            if found != 0 {
                return word * 16 + first(found);
            }
            (word, mask) = (word + 1, !0);
        }
        self.last(from, &bytes)
    }

    /// The first place from `from` on where this byte stands, or the end.
    pub(super) const fn find(&self, from: usize, byte: u8) -> usize {
        self.any(from, [byte; 3])
    }

    /// Where the name ends that reaches from before `from`, or the text: at a blank, a bracket of
    /// any kind, a comma, a dot or a semicolon.
    pub(super) const fn name_end(&self, from: usize) -> usize {
        let words = self.words;
        let (mut word, mut mask) = (from / 16, from_byte!(from));
        while word < words.len() {
            let low = words[word].0 & all!(LOW);
            let others = (low + all!(FROM_VISIBLE)) & ((low ^ all!('(')) + all!(FROM_EIGHT));
            let others = others & ((low ^ all!('[')) + all!(LOW)) & ((low ^ all!(';')) + all!(LOW));
            let found = (!others | (low + all!(FROM_BRACE))) & all!(HIGH) & mask;
            if found != 0 {
                return word * 16 + first(found);
            }
            (word, mask) = (word + 1, !0);
        }
        self.last(from, b" \t\r\n(),.[;{}")
    }

    /// The first of `bytes` after the last whole word.
    const fn last(&self, from: usize, bytes: &[u8]) -> usize {
        let words = self.words.len() * 16;
        let mut at = if from > words { from } else { words };
        while at < self.bytes.len() {
            let mut index = 0;
            while index < bytes.len() {
                if self.bytes[at] == bytes[index] {
                    return at;
                }
                index += 1;
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// The byte at this place; 0 after the end.
    pub(super) const fn at(&self, index: usize) -> u8 {
        if index < self.bytes.len() {
            self.bytes[index]
        } else {
            0
        }
    }

    /// The first place from `from` on where neither a blank nor a comment stands.
    pub(super) const fn skip_blank(&self, from: usize) -> usize {
        let (bytes, mut at) = (self.bytes, from);
        while at < bytes.len() {
            match bytes[at] {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => at += 1,
                b'/' if self.is_comment(at) => at = self.comment_end(at),
                _ => return at,
            }
        }
        at
    }

    /// Whether a comment begins here, where a slash is.
    pub(super) const fn is_comment(&self, at: usize) -> bool {
        matches!(self.at(at + 1), b'/' | b'*')
    }

    /// Where the comment that begins here has ended.
    pub(super) const fn comment_end(&self, at: usize) -> usize {
        if self.at(at + 1) == b'/' {
            return self.find(at + 2, b'\n');
        }
        let mut at = at + 2;
        loop {
            at = self.find(at, b'*') + 1;
            if at >= self.bytes.len() {
                return self.bytes.len();
            }
            if self.bytes[at] == b'/' {
                return at + 1;
            }
        }
    }

    /// Where the string that begins here has ended.
    pub(super) const fn string_end(&self, at: usize) -> usize {
        let end = self.find(at + 1, b'"') + 1;
        if end < self.bytes.len() {
            end
        } else {
            self.bytes.len()
        }
    }

    /// Where the list in parentheses that begins here has ended, comments and all.
    pub(super) const fn list_end(&self, at: usize) -> usize {
        let (mut at, mut depth) = (at, 0);
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'(' => depth += 1,
                b')' if depth <= 1 => return at + 1,
                b')' => depth -= 1,
                b'/' if self.is_comment(at) => {
                    at = self.comment_end(at);
                    continue;
                }
                _ => {}
            }
            at = self.any(at + 1, [b'(', b')', b'/']);
        }
        self.bytes.len()
    }

    /// The sixteen bytes from this place on, the first of them lowest; 0 if there are fewer.
    pub(super) const fn word(&self, at: usize) -> u128 {
        if at >= self.bytes.len() || self.bytes.len() - at < 16 {
            return 0;
        }
        // SAFETY: it is a place of the bytes, as was compared above.
        let word = unsafe { self.bytes.as_ptr().add(at) }.cast::<Word>();
        // SAFETY: sixteen bytes are there; they need no alignment, and any are a word.
        let word = unsafe { *word };
        u128::from_le(word.0)
    }

    /// Whether these bytes stand here.
    pub(super) const fn stands(&self, at: usize, bytes: &[u8]) -> bool {
        let (text, mut index) = (self.bytes, 0);
        while index < bytes.len() {
            if at + index >= text.len() || text[at + index] != bytes[index] {
                return false;
            }
            index += 1;
        }
        true
    }

    /// Part of the text; empty where there is none.
    pub(super) const fn part(&self, start: usize, len: usize) -> &'a [u8] {
        let bytes = self.bytes;
        if start > bytes.len() || len > bytes.len() - start {
            return &[];
        }
        // SAFETY: it begins in the bytes, or at their end.
        let start = unsafe { bytes.as_ptr().add(start) };
        // SAFETY: so many bytes are there, as was compared above. (The functions of slices do the
        // same in a hundred steps.)
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// Part of the text, as text; empty where there is none.
    pub(super) const fn str(&self, start: usize, len: usize) -> &'a str {
        if self.is_boundary(start) && self.is_boundary(start + len) {
            // SAFETY: a part of UTF-8 that begins and ends between characters.
            unsafe { str::from_utf8_unchecked(self.part(start, len)) }
        } else {
            ""
        }
    }

    /// Whether no character reaches over this place.
    const fn is_boundary(&self, at: usize) -> bool {
        let bytes = self.bytes;
        at >= bytes.len() || bytes[at] & 0xc0 != 0x80
    }
}

/// The first byte of a word with a bit in it.
const fn first(word: u128) -> usize {
    let bits = if cfg!(target_endian = "little") {
        word.trailing_zeros()
    } else {
        word.leading_zeros()
    };
    bits as usize / 8
}

pub(super) const fn min(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// Whether two texts are the same.
pub(super) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // From the end: names differ there.
    let mut index = a.len();
    while index > 0 {
        index -= 1;
        if a[index] != b[index] {
            return false;
        }
    }
    true
}

/// The text of these bytes, if it is one.
pub(super) const fn text_of(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}
