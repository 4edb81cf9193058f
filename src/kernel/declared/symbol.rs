//! The patterns that name kernels and variables whose names compilers have mangled.
//!
//! A pattern is a path, or the end of one: `scale` and `math::scale` both name
//! `_ZN4math5scaleEPf`. With the arguments of a template it names one instance: `scale<float, 4>`.

use super::message::Message;
use super::path::{Path, at, part, source_name};
use super::text::same;

impl Path<'_> {
    /// Whether the pattern names it.
    const fn is_named(&self, pattern: &[u8]) -> bool {
        let (mut end, mut index) = (pattern.len(), self.count);
        loop {
            if index == 0 {
                return false;
            }
            index -= 1;
            let start = last_part(pattern, end);
            if !self.part_is(index, part(pattern, start, end - start)) {
                return false;
            }
            if start < 2 {
                return start == 0;
            }
            end = start - 2;
        }
    }

    /// Whether a part of the path is this part of a pattern.
    const fn part_is(&self, index: usize, pattern: &[u8]) -> bool {
        let this = self.parts[index];
        let mut bracket = 0;
        while bracket < pattern.len() && pattern[bracket] != b'<' {
            bracket += 1;
        }
        if !same(
            part(self.name, this.start, this.len),
            part(pattern, 0, bracket),
        ) {
            return false;
        }
        if bracket == pattern.len() {
            return true;
        }
        let mut readable = Message::new();
        let is_read = self.arguments(index, &mut readable);
        is_read && same_but_blanks(readable.as_bytes(), part(pattern, bracket, pattern.len()))
    }

    /// The path as it is written in a program: `math::scale<float>`.
    const fn describe(&self, message: &mut Message) {
        let mut index = 0;
        while index < self.count {
            if index > 0 {
                message.text("::");
            }
            let this = self.parts[index];
            message.bytes(part(self.name, this.start, this.len));
            let mut arguments = Message::new();
            if self.arguments(index, &mut arguments) {
                message.bytes(arguments.as_bytes());
            } else {
                message.text("<...>");
            }
            index += 1;
        }
    }

    /// Writes the arguments of a part in angle brackets, if it has any. Says whether all could be
    /// read.
    const fn arguments(&self, index: usize, message: &mut Message) -> bool {
        let Some((mut from, end)) = self.parts[index].arguments else {
            return true;
        };
        message.text("<");
        let mut is_first = true;
        while from < end {
            if !is_first {
                message.text(", ");
            }
            is_first = false;
            match argument(self.name, from, message) {
                Some(next) => from = next,
                None => return false,
            }
        }
        message.text(">");
        true
    }
}

/// Where the last part of a path begins that ends at `end`: after the last `::` outside of angle
/// brackets.
const fn last_part(pattern: &[u8], end: usize) -> usize {
    let (mut index, mut depth) = (end, 0_usize);
    while index > 0 {
        match pattern[index - 1] {
            b'>' => depth += 1,
            b'<' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return index,
            _ => {}
        }
        index -= 1;
    }
    0
}

/// Writes an argument of a template, and says where it has ended. What is rare is not read.
const fn argument(name: &[u8], from: usize, message: &mut Message) -> Option<usize> {
    match at(name, from) {
        b'L' => literal(name, from + 1, message),
        b'P' | b'R' | b'O' => {
            let next = argument(name, from + 1, message);
            message.text(match at(name, from) {
                b'P' => "*",
                b'R' => "&",
                _ => "&&",
            });
            next
        }
        b'K' => {
            message.text("const ");
            argument(name, from + 1, message)
        }
        b'0'..=b'9' => match source_name(name, from) {
            Some((start, len)) => {
                message.bytes(part(name, start, len));
                Some(start + len)
            }
            None => None,
        },
        b'N' => {
            let mut index = from + 1;
            while at(name, index) != b'E' {
                let Some((start, len)) = source_name(name, index) else {
                    return None;
                };
                if index > from + 1 {
                    message.text("::");
                }
                message.bytes(part(name, start, len));
                index = start + len;
            }
            Some(index + 1)
        }
        letter => {
            let builtin = builtin(letter);
            message.text(builtin);
            if builtin.is_empty() {
                None
            } else {
                Some(from + 1)
            }
        }
    }
}

/// Writes a number or a truth value: `i256E`, `b1E`, `in1E`.
const fn literal(name: &[u8], from: usize, message: &mut Message) -> Option<usize> {
    let letter = at(name, from);
    let mut index = from + 1;
    if builtin(letter).is_empty() {
        return None;
    }
    if letter == b'b' {
        message.text(match at(name, index) {
            b'0' => "false",
            _ => "true",
        });
        return Some(index + 2);
    }
    if at(name, index) == b'n' {
        message.text("-");
        index += 1;
    }
    let start = index;
    while let b'0'..=b'9' = at(name, index) {
        index += 1;
    }
    message.bytes(part(name, start, index - start));
    if at(name, index) == b'E' {
        Some(index + 1)
    } else {
        None
    }
}

/// C++'s name of a type with a letter of its own; else empty.
const fn builtin(letter: u8) -> &'static str {
    match letter {
        b'v' => "void",
        b'b' => "bool",
        b'c' => "char",
        b'a' => "signed char",
        b'h' => "unsigned char",
        b's' => "short",
        b't' => "unsigned short",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'f' => "float",
        b'd' => "double",
        _ => "",
    }
}

/// Whether two texts are the same, blanks aside.
const fn same_but_blanks(a: &[u8], b: &[u8]) -> bool {
    let (mut i, mut j) = (0, 0);
    loop {
        while at(a, i) == b' ' {
            i += 1;
        }
        while at(b, j) == b' ' {
            j += 1;
        }
        if i >= a.len() || j >= b.len() {
            return i >= a.len() && j >= b.len();
        }
        if a[i] != b[j] {
            return false;
        }
        (i, j) = (i + 1, j + 1);
    }
}

/// Writes a name, and what it stands for.
pub(super) const fn describe(name: &[u8], message: &mut Message) {
    message.code(name);
    if let Some(path) = Path::of(name) {
        message.text(" (");
        path.describe(message);
        message.text(")");
    }
}

/// Where the last part of the path of a mangled name begins, and how many bytes it has.
pub(super) const fn base(name: &[u8]) -> (usize, usize) {
    if name.len() < 2 || name[0] != b'_' {
        return (0, 0);
    }
    match Path::of(name) {
        Some(path) if path.count > 0 => {
            let last = path.parts[path.count - 1];
            (last.start, last.len)
        }
        _ => (0, 0),
    }
}

/// The last name of a pattern, without the arguments of a template.
pub(super) const fn last_name(pattern: &str) -> &[u8] {
    let pattern = pattern.as_bytes();
    let start = last_part(pattern, pattern.len());
    let mut end = start;
    while end < pattern.len() && pattern[end] != b'<' {
        end += 1;
    }
    part(pattern, start, end - start)
}

/// Whether a pattern names what is called `name`.
pub(super) const fn names(pattern: &str, name: &[u8]) -> bool {
    match Path::of(name) {
        Some(path) => path.is_named(pattern.as_bytes()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(name: &str) -> Option<String> {
        let mut message = Message::new();
        Path::of(name.as_bytes())?.describe(&mut message);
        Some(message.as_str().to_owned())
    }

    #[test]
    fn mangled_names_are_paths() {
        for (name, path) in [
            ("_Z5scalePfj", "scale"),
            ("_ZN4math5scaleEPf", "math::scale"),
            ("_ZL5table", "table"),
            ("_ZN12_GLOBAL__N_15scaleEPf", "_GLOBAL__N_1::scale"),
            ("_Z6reduceIfLi256EEvPKT_PS0_j", "reduce<float, 256>"),
            ("_Z6reduceIjLb1EEvPT_", "reduce<unsigned int, true>"),
            ("_ZN1a1bIPKfE1cILin3EEEvT_", "a::b<const float*>::c<-3>"),
            ("_Z1kIN4math3vecE6__halfEvv", "k<math::vec, __half>"),
            ("_Z1kIDnEvv", "k<...>"),
            (
                "_ZN6kernel4math5scale17h0123456789abcdefE",
                "kernel::math::scale",
            ),
            ("_RNvNtCs1234_6kernel4math5scale", "kernel::math::scale"),
            ("_RNvCs1234_6kernel5scale", "kernel::scale"),
            ("_RINvCs1234_6kernel5scalefE", "kernel::scale"),
        ] {
            assert_eq!(readable(name).as_deref(), Some(path), "{name}");
        }
        for name in [
            "scale",
            "_Z",
            "_ZN",
            "_Z99x",
            "_R",
            "_RNv",
            "_ZNE",
            "_ZTV1a",
            "_Z5scaleI",
        ] {
            assert_eq!(readable(name), None, "{name}");
        }
    }

    #[test]
    fn any_name_is_read_to_its_end() {
        let mut seed = 1_u32;
        for _ in 0..20_000 {
            let letters = b"_ZRNvCIELSTAXtsuhPKi0123456789_:<>";
            let next = |_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                letters[(seed >> 16) as usize % letters.len()]
            };
            let tail = String::from_utf8((0..24).map(next).collect()).unwrap();
            for name in [
                format!("_ZN{tail}"),
                format!("_R{tail}"),
                format!("_Z1k{tail}"),
            ] {
                let (start, len) = base(name.as_bytes());
                assert!(start <= name.len() && len <= name.len());
                let _ = (readable(&name), names(&tail, name.as_bytes()));
            }
        }
    }

    #[test]
    fn patterns_name_the_end_of_a_path() {
        let name = "_ZN4math4fast5scaleIfLi4EEEvPT_";
        for pattern in [
            "scale",
            "fast::scale",
            "math::fast::scale",
            "scale<float, 4>",
            "fast::scale<float,4>",
        ] {
            assert!(names(pattern, name.as_bytes()), "{pattern}");
        }
        for pattern in [
            "",
            "::scale",
            "cale",
            "math::scale",
            "x::math::fast::scale",
            "scale<float>",
            "scale<double, 4>",
            "fast",
            "scale::",
            "fast:scale",
        ] {
            assert!(!names(pattern, name.as_bytes()), "{pattern}");
        }
        assert!(!names("scale", b"scale"));
    }
}
