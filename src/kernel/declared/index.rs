//! The declarations of a text that is part of the program, found once, while it is compiled.
//!
//! The compiler warns of a constant whose evaluation takes long (millions of calls and loops), and
//! by default refuses it. So the text is read by a row of constants, each of which reads on from
//! where the one before has stopped, for half a megabyte.

use super::scan::{Next, Place, Scanner};
use super::text::Text;
use crate::kernel::ptx::ConstText;
use std::marker::PhantomData;

/// The most kernels, and the most variables, of a text.
pub(super) const PLACES_MAX: usize = 2048;
/// How much of the text each constant reads, in bytes.
const STAGE: usize = 512 * 1024;
/// And how many tokens: braces, comments and strings in kernels, and all words outside.
const STAGE_TOKENS: usize = 40_000;
/// The most bytes of a text: that many constants there are.
pub(super) const BYTES_MAX: usize = STAGE * 64;

/// Places of a text. A column for each number: the compiler looks at each part of a constant that
/// it has evaluated, but takes numbers by the row.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// What tells most names apart: see [`key`].
    key: [u32; PLACES_MAX],
    name: [u32; PLACES_MAX],
    len: [u32; PLACES_MAX],
    base: [u32; PLACES_MAX],
    base_len: [u32; PLACES_MAX],
    declared: [u32; PLACES_MAX],
    count: usize,
}

impl Places {
    const NONE: Self = Self {
        key: [0; PLACES_MAX],
        name: [0; PLACES_MAX],
        len: [0; PLACES_MAX],
        base: [0; PLACES_MAX],
        base_len: [0; PLACES_MAX],
        declared: [0; PLACES_MAX],
        count: 0,
    };

    /// Says whether there was room.
    const fn push(&mut self, text: &Text<'_>, place: Place) -> bool {
        let index = self.count;
        if index == PLACES_MAX {
            return false;
        }
        self.key[index] = key(place.symbol(text));
        self.name[index] = place.name;
        self.len[index] = place.len;
        self.base[index] = place.base;
        self.base_len[index] = place.base_len;
        self.declared[index] = place.declared;
        self.count += 1;
        true
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The place with this number, which is below the count.
    pub(super) const fn get(&self, index: usize) -> Place {
        Place {
            name: self.name[index],
            len: self.len[index],
            base: self.base[index],
            base_len: self.base_len[index],
            declared: self.declared[index],
        }
    }

    /// The one that has this name.
    pub(super) const fn named(&self, text: &Text<'_>, name: &[u8]) -> Option<Place> {
        let (key, keys, count) = (key(name), &self.key, self.count);
        let mut index = 0;
        while index < count {
            if keys[index] == key {
                let place = self.get(index);
                if place.len as usize == name.len() && text.stands(place.name as usize, name) {
                    return Some(place);
                }
            }
            index += 1;
        }
        None
    }

    /// The first from `from` on whose path ends with this name.
    pub(super) const fn with_base(&self, text: &Text<'_>, base: &[u8], from: usize) -> usize {
        let mut index = from;
        while index < self.count {
            let (start, len) = (self.base[index] as usize, self.base_len[index] as usize);
            if len > 0 && len == base.len() && text.stands(start, base) {
                return index;
            }
            index += 1;
        }
        index
    }
}

/// The length of a name and its last bytes: names differ at their ends.
const fn key(name: &[u8]) -> u32 {
    let (mut key, mut left, mut index) = (name.len() as u32, 3, name.len());
    while left > 0 && index > 0 {
        (left, index) = (left - 1, index - 1);
        key = key << 8 | name[index] as u32;
    }
    key
}

/// What a text declares.
#[derive(Clone, Copy)]
pub(super) struct Index {
    scanner: Scanner,
    pub(super) kernels: Places,
    pub(super) variables: Places,
    /// Whether there is more than this holds.
    pub(super) is_full: bool,
    /// Whether the text was read to its end.
    pub(super) is_complete: bool,
}

impl Index {
    const START: Self = Self {
        scanner: Scanner::START,
        kernels: Places::NONE,
        variables: Places::NONE,
        is_full: false,
        is_complete: false,
    };

    /// Reads on, for at most `bytes` bytes.
    const fn read(&mut self, text: &Text<'_>, bytes: usize) {
        let limit = self.scanner.position + bytes;
        self.scanner.tokens_left = STAGE_TOKENS;
        while !self.is_complete && !self.is_full {
            let has_room = match self.scanner.next(text, limit) {
                Next::Kernel(kernel) => self.kernels.push(text, kernel),
                Next::Variable(variable) => self.variables.push(text, variable),
                Next::Paused => return,
                Next::End => {
                    self.is_complete = true;
                    return;
                }
            };
            self.is_full = !has_room;
        }
    }

    const fn after(&self, text: &str) -> Self {
        let mut next = *self;
        next.read(&Text::new(text), STAGE);
        next
    }
}

/// The declarations of the text of `T`.
pub(super) struct Declarations<T>(PhantomData<T>);

/// Constants that read on, each behind the one before.
macro_rules! stages {
    ($($stage:ident after $before:ident,)*) => {$(
        const $stage: Index = Self::$before.after(T::TEXT);
    )*};
}

impl<T: ConstText> Declarations<T> {
    pub(super) const INDEX: &'static Index = &Self::S64;

    const S0: Index = Index::START;
    stages! {
        S1 after S0, S2 after S1, S3 after S2, S4 after S3, S5 after S4,
        S6 after S5, S7 after S6, S8 after S7, S9 after S8, S10 after S9,
        S11 after S10, S12 after S11, S13 after S12, S14 after S13, S15 after S14,
        S16 after S15, S17 after S16, S18 after S17, S19 after S18, S20 after S19,
        S21 after S20, S22 after S21, S23 after S22, S24 after S23, S25 after S24,
        S26 after S25, S27 after S26, S28 after S27, S29 after S28, S30 after S29,
        S31 after S30, S32 after S31, S33 after S32, S34 after S33, S35 after S34,
        S36 after S35, S37 after S36, S38 after S37, S39 after S38, S40 after S39,
        S41 after S40, S42 after S41, S43 after S42, S44 after S43, S45 after S44,
        S46 after S45, S47 after S46, S48 after S47, S49 after S48, S50 after S49,
        S51 after S50, S52 after S51, S53 after S52, S54 after S53, S55 after S54,
        S56 after S55, S57 after S56, S58 after S57, S59 after S58, S60 after S59,
        S61 after S60, S62 after S61, S63 after S62, S64 after S63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let text = &Text::new(text);
        let mut index = Index::START;
        while !index.is_complete {
            index.read(text, 7);
        }
        let name = |place: Place| String::from_utf8(place.symbol(text).to_vec()).unwrap();
        let names = |places: &Places| {
            (0..places.count())
                .map(|index| name(places.get(index)))
                .collect()
        };
        (names(&index.kernels), names(&index.variables))
    }

    #[test]
    fn declarations_are_found_wherever_reading_pauses() {
        let text = "// .entry no()\n.version 8.0 .target sm_80 /* { .entry no { } */
            .file 1 \"{ .entry no {\"
            .visible .global .align 4 .b8 table[100] = {1, 2, /* } */ 3};
            .const .align 8 .u64 step = 1, other[2][3];
            .global.attribute(.managed) .f32 shared;
            .func (.param .b32 r) f(.param .u32 x) { .reg .u32 %r<2>; { ld.global.u32 %r1, [x]; } }
            .visible .entry a(.param .u64 .ptr .global .align 4 p, /* ) */ .param .u32 n) .maxntid 256
            { // }
              ld.v2.f32 {%f1, %f2}, [p]; .pragma \"}\"; @%p|%q bra L; ret; }
            .entry b{ret;}
            .section .debug_str { .b8 1,2 }
            .extern .global .u32 elsewhere;
            .visible .entry\n\tc\n(\n) { ret; }";
        let (kernels, variables) = names(text);
        assert_eq!(kernels, ["a", "b", "c"]);
        assert_eq!(variables, ["table", "step", "other", "shared", "elsewhere"]);
    }

    #[test]
    fn any_text_has_an_end() {
        for text in [
            "",
            ".entry",
            ".entry k(",
            ".entry k(((",
            ".entry (",
            "/*",
            "/* *",
            "//",
            "\"",
            "{ \"",
            "{ /* }",
            "}}}} .entry k",
            ".global",
            ".global .align",
            ".global .u32 a,",
            ".global .u32 a, ,",
            "\u{fc}\u{fc}{\u{fc}}.entry \u{fc}",
            ".",
            "....",
        ] {
            let _ = names(text);
            let long = format!("{}{text}", " ".repeat(200));
            assert_eq!(names(text).0, names(&long).0, "{text}");
        }
    }

    /// Byte by byte, as it is written down.
    #[test]
    fn words_are_compared_as_their_bytes_are() {
        let mut seed = 1_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 24
        };
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..300).map(|_| (random() % 128) as u8).collect();
            let rare: Vec<u8> = bytes
                .iter()
                .map(|&byte| if random() < 250 { b'x' } else { byte })
                .collect();
            for bytes in [bytes, rare] {
                let string = String::from_utf8(bytes).unwrap();
                let text = &Text::new(&string);
                let find = |from: usize, set: &[u8]| {
                    let found = text.bytes[from..]
                        .iter()
                        .position(|byte| set.contains(byte));
                    found.map_or(text.bytes.len(), |at| from + at)
                };
                for from in 0..text.bytes.len() {
                    let mut mark = text.mark(from);
                    while b"|~\x7f".contains(&text.at(mark)) {
                        mark = text.mark(mark + 1);
                    }
                    assert_eq!(mark, find(from, b"{}\"/"));
                    assert_eq!(text.any(from, *b"(/)"), find(from, b"(/)"));
                    let end = text.name_end(from);
                    let is_end = |byte: u8| byte <= b' ' || b"()*+,-./[;{|}~\x7f".contains(&byte);
                    let want = text.bytes[from..].iter().position(|&byte| is_end(byte));
                    let last = text.bytes.len() / 16 * 16;
                    assert!(end >= last || Some(end - from) == want, "{from}");
                }
            }
        }
    }
}
