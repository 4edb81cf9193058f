//! What PTX text declares of its kernels: the kind of each parameter.
//!
//! The driver tells sizes and offsets. The text tells more: an `f32` where the kernel takes an
//! `int`, or memory where it takes a struct, is found at look-up.

use super::ptx_check::Tokens;
use std::collections::HashMap;
use std::fmt;

/// A parameter as PTX declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Declared {
    pub(super) kind: Kind,
    /// The declaration's type, as it stands in the text: `.f32`, `.u64 .ptr`, `.align 4 .b8[12]`.
    pub(super) text: String,
}

/// What a parameter is, as far as its type tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An address.
    Pointer,
    Float,
    Integer,
    /// Bytes of a struct.
    Bytes,
    /// Bits of any type, or what this module does not read. Rust's types are never of this kind.
    Any,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pointer => "a pointer",
            Self::Float => "a floating-point number",
            Self::Integer => "an integer",
            Self::Bytes => "plain data",
            Self::Any => "bits of any type",
        })
    }
}

impl Declared {
    /// Whether a parameter of Rust's `kind` may stand for this one. Sizes were compared already.
    pub(super) fn admits(&self, kind: Kind) -> bool {
        match (self.kind, kind) {
            (Kind::Any, _) => true,
            // Older compilers declare pointers as integers of 64 bits. Plain data may be a wrapper
            // of what is declared.
            (Kind::Bytes, kind) => kind != Kind::Pointer,
            (Kind::Integer, kind) => kind != Kind::Float,
            (Kind::Float, kind) => matches!(kind, Kind::Float | Kind::Bytes),
            // An address may be passed as a number.
            (Kind::Pointer, kind) => matches!(kind, Kind::Pointer | Kind::Integer),
        }
    }
}

/// The parameters of every kernel of a text, by its name. One that is not understood keeps its
/// place and admits every kind.
pub(super) fn read(text: &str) -> HashMap<String, Vec<Declared>> {
    let mut kernels = HashMap::new();
    let mut tokens = Tokens(text).peekable();
    while let Some(token) = tokens.next() {
        if token != ".entry" {
            continue;
        }
        let Some(name) = tokens.next() else { break };
        let mut parameters = Vec::new();
        if tokens.peek() == Some(&"(") {
            tokens.next();
            let mut words: Vec<&str> = Vec::new();
            for token in tokens.by_ref() {
                match token {
                    "," | ")" => {
                        if !words.is_empty() {
                            parameters.push(parameter(&words));
                        }
                        words.clear();
                    }
                    word => words.push(word),
                }
                if token == ")" {
                    break;
                }
            }
        }
        kernels.insert(name.to_owned(), parameters);
    }
    kernels
}

/// A parameter from its words: `.param .u64 .ptr .global .align 4 x` or `.param .align 4 .b8
/// x[12]`.
fn parameter(words: &[&str]) -> Declared {
    // Without `.param`.
    let rest = words.get(1..).unwrap_or_default();
    let scalar = rest.iter().find(|word| is_type(word));
    let letter = scalar.and_then(|scalar| scalar.as_bytes().get(1));
    let dimension = rest.iter().position(|&word| word == "[");
    let kind = match (rest.contains(&".ptr"), dimension, letter) {
        (true, ..) => Kind::Pointer,
        (_, Some(_), Some(_)) => Kind::Bytes,
        (_, None, Some(b'f')) => Kind::Float,
        (_, None, Some(b'u' | b's')) => Kind::Integer,
        _ => Kind::Any,
    };
    // The name stands last or before its dimension.
    let name = dimension.unwrap_or(rest.len()).checked_sub(1);
    let (mut text, mut glue) = (String::new(), "");
    for (index, word) in rest.iter().enumerate() {
        if Some(index) != name {
            let glued = matches!(*word, "[" | "]") || text.ends_with('[');
            text += if glued { "" } else { glue };
            text += word;
            glue = " ";
        }
    }
    Declared { kind, text }
}

fn is_type(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('.')
        && letters.next().is_some_and(|kind| "busf".contains(kind))
        && letters.next().is_some_and(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> Vec<(Kind, String)> {
        let kernels = read(&format!(".version 8.0\n.entry k({text}) {{ ret; }}"));
        let parameters = kernels["k"].iter();
        parameters.map(|p| (p.kind, p.text.clone())).collect()
    }

    #[test]
    fn parameters_are_read_as_compilers_write_them() {
        let text =
            ".param .u64 .ptr .align 1 k_param_0, .param .u64 k_param_1,\n\t.param .f32 k_param_2,
            .param .align 4 .b8 k_param_3[12], .param .u32 k_param_4, .param .b32 k_param_5,
            .param .u64 .ptr .global .align 4 x, .param .s8 c";
        let want = [
            (Kind::Pointer, ".u64 .ptr .align 1"),
            (Kind::Integer, ".u64"),
            (Kind::Float, ".f32"),
            (Kind::Bytes, ".align 4 .b8[12]"),
            (Kind::Integer, ".u32"),
            (Kind::Any, ".b32"),
            (Kind::Pointer, ".u64 .ptr .global .align 4"),
            (Kind::Integer, ".s8"),
        ];
        let want: Vec<_> = want.map(|(kind, text)| (kind, text.to_owned())).into();
        assert_eq!(declared(text), want);
        assert_eq!(declared(""), []);
        // What is not understood keeps its place.
        let want = [(Kind::Any, ".texref"), (Kind::Float, ".f32")];
        let want: Vec<_> = want.map(|(kind, text)| (kind, text.to_owned())).into();
        assert_eq!(declared(".param .texref t, .param .f32 a"), want);
    }

    #[test]
    fn kernels_are_found_by_name_and_any_text_has_an_end() {
        let kernels = read(
            ".visible .entry a(.param .u32 n) .maxntid 256 { ret; } // .entry c()\n.entry b { ret; }\n\
             .func (.param .b32 r) f(.param .u32 x) { ret; }",
        );
        let mut names: Vec<_> = kernels.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b"]);
        for text in [
            ".entry",
            ".entry k(",
            ".entry k(.param",
            ".entry k(,,)",
            ".entry k(.param [ ] x)",
        ] {
            let _ = read(text);
        }
    }

    #[test]
    fn kinds_that_cannot_be_meant_are_refused() {
        let admits = |text: &str, kind| {
            Declared {
                text: text.to_owned(),
                ..of(text)
            }
            .admits(kind)
        };
        assert!(admits(".f32", Kind::Float) && !admits(".f32", Kind::Integer));
        assert!(!admits(".f32", Kind::Pointer) && admits(".f32", Kind::Bytes));
        assert!(admits(".u64", Kind::Pointer) && !admits(".u32", Kind::Float));
        assert!(admits(".u64 .ptr", Kind::Integer) && !admits(".u64 .ptr", Kind::Float));
        assert!(!admits(".u64 .ptr", Kind::Bytes) && admits(".b32", Kind::Float));
        assert!(admits(".b64", Kind::Pointer) && admits(".b64", Kind::Integer));
        let bytes = declared(".param .align 8 .b8 x[8]");
        assert_eq!(bytes[0].0, Kind::Bytes);
    }

    fn of(text: &str) -> Declared {
        let kernels = read(&format!(".entry k(.param {text} x)"));
        kernels["k"][0].clone()
    }
}
