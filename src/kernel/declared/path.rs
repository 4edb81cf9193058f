//! The paths that mangled names stand for: `math::scale<..>` of `_ZN4math5scaleIfEvPT_`.

use super::text::min;

/// The most parts of a path.
const PARTS_MAX: usize = 16;

/// A part of a path, `scale<float>`: where it stands in the name, and the arguments of its
/// template.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) len: usize,
    /// From the first argument to the end of the last, in the language of the mangled name.
    pub(super) arguments: Option<(usize, usize)>,
}

/// The path that a mangled name stands for.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    pub(super) name: &'a [u8],
    pub(super) parts: [Part; PARTS_MAX],
    pub(super) count: usize,
}

pub(super) const fn at(bytes: &[u8], index: usize) -> u8 {
    if index < bytes.len() { bytes[index] } else { 0 }
}

pub(super) const fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    let start = min(start, bytes.len());
    let rest = bytes.split_at(start).1;
    rest.split_at(min(len, rest.len())).0
}

/// The name that begins with its length here: where it begins, how long it is.
pub(super) const fn source_name(name: &[u8], from: usize) -> Option<(usize, usize)> {
    let (mut index, mut len) = (from, 0_usize);
    while let digit @ b'0'..=b'9' = at(name, index) {
        len = len * 10 + (digit - b'0') as usize;
        if len > name.len() {
            return None;
        }
        index += 1;
    }
    if index == from || index + len > name.len() {
        None
    } else {
        Some((index, len))
    }
}

impl<'a> Path<'a> {
    /// The path of a name, if it is mangled in a way that this module reads.
    pub(super) const fn of(name: &'a [u8]) -> Option<Self> {
        let path = Self {
            name,
            parts: [Part {
                start: 0,
                len: 0,
                arguments: None,
            }; PARTS_MAX],
            count: 0,
        };
        match (at(name, 0), at(name, 1)) {
            (b'_', b'Z') => path.itanium(2),
            (b'_', b'R') => path.rust(2),
            _ => None,
        }
    }

    const fn push(&mut self, start: usize, len: usize) -> bool {
        if self.count == PARTS_MAX {
            return false;
        }
        self.parts[self.count] = Part {
            start,
            len,
            arguments: None,
        };
        self.count += 1;
        true
    }

    /// C++, and Rust's older way, which adds a part with a hash.
    const fn itanium(mut self, from: usize) -> Option<Self> {
        let (name, mut index) = (self.name, from);
        let is_nested = at(name, index) == b'N';
        if is_nested {
            index += 1;
            while matches!(at(name, index), b'r' | b'V' | b'K' | b'R' | b'O') {
                index += 1;
            }
        }
        loop {
            match at(name, index) {
                b'0'..=b'9' => {
                    let Some((start, len)) = source_name(name, index) else {
                        return None;
                    };
                    if !self.push(start, len) {
                        return None;
                    }
                    index = start + len;
                }
                // Of internal linkage.
                b'L' if at(name, index + 1).is_ascii_digit() => {
                    index += 1;
                    continue;
                }
                b'S' if at(name, index + 1) == b't' && self.count == 0 => {
                    index += 2;
                    continue;
                }
                b'I' if self.count > 0 => {
                    let Some(end) = group_end(name, index) else {
                        return None;
                    };
                    self.parts[self.count - 1].arguments = Some((index + 1, end - 1));
                    index = end;
                }
                b'E' if is_nested && self.count > 0 => break,
                _ if is_nested || self.count == 0 => return None,
                _ => break,
            }
        }
        if is_nested && self.count > 1 {
            let last = self.parts[self.count - 1];
            if last.len == 17 && at(name, last.start) == b'h' && index + 1 == name.len() {
                self.count -= 1;
            }
        }
        Some(self)
    }

    /// Rust's newer way: `_RNvNtCs1234_5crate6module4name`.
    const fn rust(mut self, from: usize) -> Option<Self> {
        let (name, mut index) = (self.name, from);
        let mut names = 0;
        loop {
            match at(name, index) {
                b'N' => (names, index) = (names + 1, index + 2),
                b'I' => index += 1,
                b'C' => {
                    index += 1;
                    break;
                }
                _ => return None,
            }
        }
        // The crate, then a name for each `N`.
        let mut read = 0;
        while read <= names {
            if at(name, index) == b's' {
                while index < name.len() && name[index] != b'_' {
                    index += 1;
                }
                index += 1;
            }
            let skip = (at(name, index) == b'u') as usize;
            let Some((start, len)) = source_name(name, index + skip) else {
                return None;
            };
            // An underscore separates the length from a name that begins like a number.
            let gap = (len > 0 && at(name, start) == b'_') as usize;
            if !self.push(start + gap, len) {
                return None;
            }
            index = start + gap + len;
            read += 1;
        }
        Some(self)
    }
}

/// Where a group of a mangled name has ended that begins here, with `I`, `N`, `L` or the like.
const fn group_end(name: &[u8], from: usize) -> Option<usize> {
    let (mut index, mut depth) = (from, 0_usize);
    while index < name.len() {
        match name[index] {
            b'0'..=b'9' => {
                let Some((start, len)) = source_name(name, index) else {
                    return None;
                };
                index = start + len;
                continue;
            }
            b'L' => {
                // A literal: its type, and its value up to the end.
                index += 1;
                if let Some((start, len)) = source_name(name, index) {
                    index = start + len;
                }
                while index < name.len() && name[index] != b'E' {
                    index += 1;
                }
            }
            b'I' | b'N' | b'X' | b'J' | b'F' => depth += 1,
            b'E' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            // A substitution, a parameter of the template, the extent of an array: up to the
            // underscore.
            b'S' | b'T' | b'A' if at(name, index + 1) != b't' => {
                while index < name.len() && name[index] != b'_' {
                    index += 1;
                }
            }
            _ => {}
        }
        index += 1;
    }
    None
}
