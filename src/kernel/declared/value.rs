//! The type of a parameter or of a variable, as PTX declares it.

use super::kind::Kind;
use super::message::Message;
use super::scan::Place;
use super::text::Text;

/// A type and the extents behind its name: `.align 4 .b8 x[12]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    /// Letter of the scalar type, `f` of `.f32`; 0 if it is none of the usual ones.
    pub(super) letter: u8,
    /// Size of the scalar type in bytes.
    pub(super) scalar: usize,
    /// Size in bytes; `None` if the text does not tell.
    pub(crate) size: Option<usize>,
    /// Alignment in bytes.
    pub(crate) align: usize,
    /// Whether there is an extent.
    pub(super) is_array: bool,
    /// Where its words begin, and where they have ended.
    start: usize,
    words_end: usize,
    /// Where the extents begin, behind the name, and where they have ended.
    extents: usize,
    end: usize,
}

/// Size in bytes of a scalar type, `.f32`, that reaches from `at` to `end` and begins with one of
/// the usual letters.
const fn scalar_size(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    match end - at {
        3 if bytes[at + 2] == b'8' => Some(1),
        4 => match (bytes[at + 2], bytes[at + 3]) {
            (b'1', b'6') => Some(2),
            (b'3', b'2') => Some(4),
            (b'6', b'4') => Some(8),
            _ => None,
        },
        5 if bytes[at + 2] == b'1' && bytes[at + 3] == b'2' && bytes[at + 4] == b'8' => Some(16),
        // `.f16x2`: two of them.
        6 if bytes[at + 2] == b'1' && bytes[at + 4] == b'x' => Some(4),
        _ => None,
    }
}

/// The decimal number at this place, and where it ends.
const fn number(text: &Text<'_>, at: usize) -> (Option<usize>, usize) {
    let (mut value, mut index) = (0_usize, at);
    while let digit @ b'0'..=b'9' = text.at(index) {
        // What is larger is no size of anything.
        if value < 1 << 40 {
            value = value * 10 + (digit - b'0') as usize;
        }
        index += 1;
    }
    // Another base, or an expression, is not read.
    let is_plain = index > at && (text.at(at) != b'0' || index == at + 1);
    (if is_plain { Some(value) } else { None }, index)
}

/// The first bytes of a word, and the bits of as many.
const fn first_bytes<const N: usize>(bytes: &[u8; N]) -> (u128, u128) {
    let (mut word, mut mask, mut index) = (0, 0, N);
    while index > 0 {
        index -= 1;
        (word, mask) = (word << 8 | bytes[index] as u128, mask << 8 | 0xff);
    }
    (word, mask)
}

impl Value {
    /// A parameter as compilers write most of them, `.param .u64 x,` or `.param .u64 .ptr .align 1
    /// x,`: read a word at a time, since each step takes long where the compiler evaluates it.
    pub(super) const fn usual_parameter(text: &Text<'_>, at: usize) -> Option<Self> {
        const PARAM: (u128, u128) = first_bytes(b".param .");
        const BITS_16: u32 = first_bytes(b"16 ").0 as u32;
        const BITS_32: u32 = first_bytes(b"32 ").0 as u32;
        const BITS_64: u32 = first_bytes(b"64 ").0 as u32;
        // The digit of the alignment may be any.
        const POINTER: (u128, u128) = first_bytes(b".ptr .align ");
        let word = text.word(at);
        if word & PARAM.1 != PARAM.0 {
            return None;
        }
        let letter = (word >> 64) as u8;
        let scalar = match (word >> 72) as u32 & 0xff_ffff {
            BITS_16 => 2,
            BITS_32 => 4,
            BITS_64 => 8,
            _ => return None,
        };
        let (mut kind, mut name) = (
            match letter {
                b'f' => Kind::Float,
                b'u' | b's' => Kind::Integer,
                b'b' => Kind::Any,
                _ => return None,
            },
            at + 12,
        );
        let word = text.word(name);
        if word & POINTER.1 == POINTER.0 && (word >> 104) as u8 == b' ' {
            (kind, name) = (Kind::Pointer, name + 14);
        }
        let end = text.name_end(name);
        let is_last = text.at(end) == b'\n' && text.at(end + 1) == b')';
        if end == name || text.at(end) != b',' && !is_last {
            return None;
        }
        Some(Self {
            kind,
            letter,
            scalar,
            size: Some(scalar),
            align: scalar,
            is_array: false,
            start: at + 7,
            words_end: name,
            extents: end,
            end,
        })
    }

    /// The parameter whose type begins at `from`; its name follows.
    pub(super) const fn parameter(text: &Text<'_>, from: usize) -> Self {
        let value = Self::words(text, from, None);
        match text.at(value.end) {
            b',' => value,
            _ => value.with_extents(text),
        }
    }

    /// The variable of this place: several may have their type together.
    pub(super) const fn variable(text: &Text<'_>, place: Place) -> Self {
        let value = Self::words(text, place.declared as usize, Some(place.end()));
        value.with_extents(text)
    }

    /// The type whose words begin at `from`. The name follows, or has ended at `name_end`.
    const fn words(text: &Text<'_>, from: usize, name_end: Option<usize>) -> Self {
        let start = text.skip_blank(from);
        let mut value = Self {
            kind: Kind::Any,
            letter: 0,
            scalar: 0,
            size: None,
            align: 0,
            is_array: false,
            start,
            words_end: start,
            extents: start,
            end: start,
        };
        let (bytes, mut at, mut lanes) = (text.bytes, start, 1);
        let (mut is_pointer, mut is_elsewhere) = (false, false);
        while at < bytes.len() && bytes[at] == b'.' {
            // Short words: byte by byte, without calls, which are slow.
            let mut end = at + 1;
            while end < bytes.len() && matches!(bytes[end], b'a'..=b'z' | b'0'..=b'9') {
                end += 1;
            }
            let letter = if end > at + 1 { bytes[at + 1] } else { 0 };
            let size = match letter {
                b'b' | b'u' | b's' | b'f' => scalar_size(bytes, at, end),
                _ => None,
            };
            let next = if end + 1 < bytes.len() && bytes[end] == b' ' && bytes[end + 1] > b'/' {
                end + 1
            } else {
                text.skip_blank(end)
            };
            if let Some(size) = size {
                (value.letter, value.scalar) = (letter, size);
            } else if letter == b'a' && text.stands(at, b".align") {
                // Behind `.ptr` it is the alignment of what is pointed to.
                let (align, end) = number(text, next);
                if let (Some(align), false) = (align, is_pointer) {
                    value.align = align;
                }
                at = text.skip_blank(text.name_end(end));
                continue;
            } else if letter == b'p' && text.stands(at, b".ptr") {
                is_pointer = true;
            } else if letter == b'v' && end == at + 3 {
                lanes = match bytes[at + 2] {
                    b'2' => 2,
                    b'4' => 4,
                    _ => 1,
                };
            } else if is_pointer && letter != b'g' {
                is_elsewhere = true;
            }
            at = match text.at(next) {
                b'(' => text.skip_blank(text.list_end(next)),
                _ => next,
            };
        }
        value.words_end = at;
        value.extents = match name_end {
            Some(end) => end,
            None => text.name_end(at),
        };
        value.end = value.extents;
        value.size = if value.scalar > 0 {
            Some(value.scalar * lanes)
        } else {
            None
        };
        if value.align == 0 {
            value.align = value.scalar * lanes;
        }
        value.kind = match value.letter {
            _ if is_pointer && is_elsewhere => Kind::OtherPointer,
            _ if is_pointer => Kind::Pointer,
            0 => Kind::Any,
            b'f' => Kind::Float,
            b'b' => Kind::Any,
            _ => Kind::Integer,
        };
        value
    }

    /// The extents behind the name: `[2][3]`.
    const fn with_extents(mut self, text: &Text<'_>) -> Self {
        loop {
            let at = text.skip_blank(self.end);
            if text.at(at) != b'[' {
                return self;
            }
            let (extent, end) = number(text, text.skip_blank(at + 1));
            let close = text.skip_blank(end);
            self.is_array = true;
            if self.letter > 0 {
                self.kind = Kind::Bytes;
            }
            self.size = match (self.size, extent, text.at(close)) {
                (Some(size), Some(extent), b']') => size.checked_mul(extent),
                _ => None,
            };
            self.end = text.find(close, b']') + 1;
        }
    }

    /// The type as the text has it, with one blank between words: `.align 4 .b8[12]`.
    pub(super) const fn describe(&self, text: &Text<'_>, message: &mut Message) {
        words(text, self.start, self.words_end, " ", message);
        if self.is_array {
            // Extents stick to what is before them.
            words(text, self.extents, self.end, "", message);
        }
    }

    /// Where the declaration ends.
    pub(super) const fn end(&self) -> usize {
        self.end
    }
}

/// The words that stand there, with `between` between them.
const fn words(text: &Text<'_>, from: usize, to: usize, between: &str, message: &mut Message) {
    let (first, mut at) = (text.skip_blank(from), text.skip_blank(from));
    while at < to {
        let mut end = at + 1;
        while end < to && text.at(end) > b' ' && text.at(end) != b'.' {
            end += 1;
        }
        if at > first {
            message.text(between);
        }
        message.bytes(text.part(at, end - at));
        at = text.skip_blank(end);
    }
}
