//! PTX text before the driver sees it.
//!
//! The driver's compiler crashes on some texts, and with it the process (measured, CUDA 13.0: each of what [`check`] refuses, apart from
//! long names, which need a small stack). Compilers write nothing of the kind.

use std::ffi::CString;

/// The most bytes of a name: the compiler needs a few times that of its stack.
const NAME_MAX: usize = 1 << 16;
/// The most threads of a block, of any device.
const THREADS_MAX: u32 = 1024;

/// Whether the text is PTX, and nothing that crashes the driver's compiler.
///
/// # Errors
/// What is wrong, in a phrase.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    if text.contains('\0') {
        return Err("the text contains a NUL");
    }
    let mut tokens = Tokens(text);
    if tokens.next() != Some(".version") {
        return Err("the text does not begin with a `.version` directive");
    }
    let mut next = tokens.next();
    while let Some(token) = next {
        next = tokens.next();
        match token {
            // A division that overflows, or by zero.
            "/" | "%" if !next.is_some_and(is_small_number) => {
                return Err(
                    "the text divides by something else than a small decimal number, which can crash the compiler",
                );
            }
            // Rounded up to whole warps, a large number becomes 0, by which the compiler divides.
            ".maxntid" | ".reqntid" => {
                while let Some(number) = next {
                    if !is_small_number(number)
                        || number.parse().is_ok_and(|n: u32| n > THREADS_MAX)
                    {
                        return Err("the text wants blocks with more threads than any device has");
                    }
                    next = tokens.next();
                    if next != Some(",") {
                        break;
                    }
                    next = tokens.next();
                }
            }
            name if name.len() > NAME_MAX => {
                return Err("the text contains a name of more than 65536 bytes");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether it is a positive decimal number of few digits.
fn is_small_number(token: &str) -> bool {
    (1..=9).contains(&token.len())
        && !token.starts_with('0')
        && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words, strings and marks of a text, without what is between them.
struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    fn skip_blank(&mut self) {
        loop {
            let rest = self.0.trim_start();
            let after = if let Some(line) = rest.strip_prefix("//") {
                line.split_once('\n')
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.split_once("*/")
            } else {
                self.0 = rest;
                return;
            };
            self.0 = after.map_or("", |(_, after)| after);
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip_blank();
        let text = self.0;
        let first = text.chars().next()?;
        let in_word = |letter: char| letter.is_ascii_alphanumeric() || "_$.".contains(letter);
        let word = |from: usize| {
            let rest = &text[from..];
            from + rest.find(|letter| !in_word(letter)).unwrap_or(rest.len())
        };
        let end = match first {
            '"' => text[1..].find('"').map_or(text.len(), |end| end + 2),
            // A register; else it is a remainder.
            '%' if text[1..]
                .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') =>
            {
                word(1)
            }
            first if in_word(first) => word(0),
            first => first.len_utf8(),
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// PTX as the driver takes it.
///
/// The driver takes binary images through the same call and believes what their headers say. Only text gets there.
///
/// # Errors
/// Why it is no PTX.
pub(super) fn ptx_text(ptx: &str) -> Result<CString, &'static str> {
    check(ptx)?;
    CString::new(ptx).map_err(|_| "the text contains a NUL")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_PTX: &str = "the text does not begin with a `.version` directive";

    #[test]
    fn ptx_begins_with_its_version() {
        assert_eq!(check(".version 8.0"), Ok(()));
        assert_eq!(
            check("\n  // made by hand\n/* two\nlines */ .version 8.0"),
            Ok(())
        );
        for other in [
            "",
            "hello",
            "// only a comment",
            "/* never closed .version",
            "\u{7f}ELF",
            ".target sm_80",
            ".versions",
        ] {
            assert_eq!(check(other), Err(NOT_PTX), "{other:?}");
        }
        assert_eq!(check(".version 8.0\0"), Err("the text contains a NUL"));
    }

    fn body(text: &str) -> Result<(), &'static str> {
        check(&format!(".version 8.0\n{text}"))
    }

    #[test]
    fn divisions_are_by_small_numbers() {
        for fine in [
            "x[1024/4]",
            "7 % 16",
            "add.s32 %r1, %r2, %tid.x;",
            "@%p bra L;",
            ".file 1 \"/a/b % -1\" // 1/-1",
        ] {
            assert_eq!(body(fine), Ok(()), "{fine}");
        }
        for crash in [
            "1/-1",
            "1 / (0-1)",
            "1/~0",
            "1/0",
            "1/0xffffffffffffffff",
            "1/ /* */ -1",
            "1%-1",
            "1 % (2)",
            "1/1234567890",
            "1/",
            "1/4U",
        ] {
            let refused = body(crash).unwrap_err();
            assert!(refused.starts_with("the text divides by"), "{crash}");
        }
    }

    #[test]
    fn blocks_have_so_many_threads_at_most() {
        for fine in [
            ".maxntid 1024",
            ".reqntid 16, 8, 8 { ret; }",
            ".maxntid 64, 1, 1 .minnctapersm 2",
        ] {
            assert_eq!(body(fine), Ok(()), "{fine}");
        }
        for crash in [
            ".maxntid 4294967295",
            ".reqntid 1, 4294967265",
            ".maxntid 0x400",
            ".maxntid 0",
            ".maxntid /**/ 1025",
            ".maxntid -1",
            ".maxntid 1,1,(2)",
        ] {
            let refused = body(crash).unwrap_err();
            assert!(refused.starts_with("the text wants blocks"), "{crash}");
        }
    }

    #[test]
    fn names_have_a_length() {
        assert_eq!(body(&"k".repeat(NAME_MAX)), Ok(()));
        assert!(body(&"k".repeat(NAME_MAX + 1)).is_err());
        assert!(body(&format!("%{}", "k".repeat(NAME_MAX))).is_err());
    }

    #[test]
    fn any_text_has_an_end() {
        for text in [
            "\"",
            "%",
            "/",
            "/*",
            "é%ß",
            "%é",
            "\u{1F600}/\u{1F600}",
            ".maxntid",
            ".maxntid 1,",
            "%%%",
        ] {
            let _ = body(text);
            assert!(Tokens(text).count() <= text.len());
        }
    }
}
