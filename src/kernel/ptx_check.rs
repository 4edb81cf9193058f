//! PTX text before the driver sees it: a second line behind the type [`Ptx`](super::Ptx).
//!
//! The driver's compiler crashes on some texts, and with it the process (measured with the driver
//! of CUDA 13.0, or with ptxas 13.5: each of what [`check`] refuses). Compilers write nothing of
//! the kind. The list is not complete, and cannot be: what is known is refused whatever the type
//! has promised.

use std::ffi::CString;

/// The most bytes of a name: the compiler needs a few times as much of its stack.
const NAME_MAX: usize = 1 << 16;
/// The most threads of a block, of any device.
const THREADS_MAX: u32 = 1024;
/// The strictest alignment that anything asks for, in bytes.
const ALIGN_MAX: u32 = 4096;
/// The most digits of the number of registers in a declaration: the compiler makes each of them,
/// of 8 bytes (measured).
const REGISTER_DIGITS_MAX: usize = 7;
/// The most brackets in one statement: dimensions of an array, or operands.
const BRACKETS_MAX: usize = 64;

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
    let (mut braces, mut brackets, mut parentheses) = (0_usize, 0_usize, 0_usize);
    // False between `.func` or `.entry` and the name, past attributes and what is returned.
    let mut is_named = true;
    while let Some(token) = next {
        next = tokens.next();
        match token {
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            word if parentheses > 0 || is_named || word.starts_with('.') => {}
            name if name.starts_with('%') => return Err("a function has the name of a register"),
            _ => is_named = true,
        }
        match token {
            // A division that overflows, or by zero.
            "/" | "%" if !next.is_some_and(is_small_number) => {
                return Err(
                    "a constant expression divides by something else than a small decimal number; \
                     this can crash the driver's compiler",
                );
            }
            // Rounded up to whole warps, a large number becomes 0, by which the compiler divides.
            ".maxntid" | ".reqntid" => {
                while let Some(number) = next {
                    if !is_at_most(number, THREADS_MAX) {
                        return Err("`.maxntid` or `.reqntid` exceeds 1024 threads");
                    }
                    next = tokens.next();
                    if next != Some(",") {
                        break;
                    }
                    next = tokens.next();
                }
            }
            ".align" if !next.is_some_and(|number| is_at_most(number, ALIGN_MAX)) => {
                return Err("`.align` is not followed by a decimal number of at most 4096");
            }
            ".entry" | ".func" if braces > 0 => {
                return Err("a function is declared inside of braces");
            }
            ".entry" | ".func" => (is_named, parentheses) = (false, 0),
            "<" if next.is_some_and(is_long_number) => {
                return Err("a declaration makes more than 9999999 registers");
            }
            "{" => (braces, brackets) = (braces + 1, 0),
            "}" => (braces, brackets) = (braces.saturating_sub(1), 0),
            ";" => brackets = 0,
            "[" if brackets == BRACKETS_MAX => {
                return Err("a statement has more than 64 brackets");
            }
            "[" => brackets += 1,
            name if name.len() > NAME_MAX => {
                return Err("the text contains a name of more than 65536 bytes");
            }
            // The compiler takes one of them for a blank.
            mark if mark.starts_with(|first: char| first.is_ascii_control()) => {
                return Err("the text contains a control character");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether it is a positive decimal number that is not greater than `limit`.
fn is_at_most(token: &str, limit: u32) -> bool {
    is_small_number(token) && token.parse().is_ok_and(|number: u32| number <= limit)
}

/// Whether it is a positive decimal number of few digits.
fn is_small_number(token: &str) -> bool {
    (1..=9).contains(&token.len())
        && !token.starts_with('0')
        && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is a number of many digits, in any base.
fn is_long_number(token: &str) -> bool {
    token.len() > REGISTER_DIGITS_MAX && token.starts_with(|first: char| first.is_ascii_digit())
}

/// Words, strings and marks of a text, without what is between them.
pub(super) struct Tokens<'a>(pub(super) &'a str);

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
        // As PTX reads words: an identifier has no dot, and a directive begins with one.
        let in_word = |letter: char| letter.is_ascii_alphanumeric() || "_$".contains(letter);
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
            '.' => word(1),
            '0'..='9' => number(text),
            first if in_word(first) => word(0),
            first => first.len_utf8(),
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// Where the number at the beginning of a text ends: after its digits, in hexadecimal after those,
/// and after a fraction. A letter that follows is another word.
fn number(text: &str) -> usize {
    let digits = |from: usize, is_digit: fn(&char) -> bool| {
        from + text[from..].chars().take_while(is_digit).count()
    };
    let hexadecimal = ["0x", "0X", "0f", "0F", "0d", "0D"];
    if hexadecimal.iter().any(|prefix| text.starts_with(prefix)) {
        return digits(2, char::is_ascii_hexdigit);
    }
    let whole = digits(0, char::is_ascii_digit);
    match text[whole..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            digits(whole + 1, char::is_ascii_digit)
        }
        _ => whole,
    }
}

/// PTX as the driver takes it.
///
/// The driver takes binary images through the same call and believes what their headers say. Only
/// text gets there.
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
        ] {
            let refused = body(crash).unwrap_err();
            assert!(
                refused.starts_with("a constant expression divides by"),
                "{crash}"
            );
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
            assert!(refused.starts_with("`.maxntid` or `.reqntid`"), "{crash}");
        }
    }

    /// As PTX reads them: an identifier ends at a dot, a hexadecimal number at what is no digit of
    /// it.
    #[test]
    fn directives_need_no_blank_before_them() {
        for crash in [
            ".visible .entry kernel.maxntid 4294967295 { ret; }",
            ".visible .entry k() .maxnreg 0x20.maxntid 4294967295 { ret; }",
            ".visible .entry k() .maxnreg 32.maxntid 4294967295 { ret; }",
            ".visible .entry k().maxntid 4294967295 { ret; }",
        ] {
            let refused = body(crash).unwrap_err();
            assert!(refused.starts_with("`.maxntid` or `.reqntid`"), "{crash}");
        }
        assert_eq!(body("fma.rn.f32 %f1, 0f3F800000, 1.5, %f2;"), Ok(()));
    }

    #[test]
    fn alignments_and_dimensions_have_limits() {
        assert_eq!(body(".global .align 4096 .b8 a[4][4];"), Ok(()));
        for crash in [
            ".global .align 2147483648 .b8 a[4];",
            ".shared .align 0x80000000 .b8 a[4];",
            ".const .align 020000000000 .b8 a[4];",
            ".param .align 0 .b8 a[4]",
            ".align",
        ] {
            assert!(body(crash).unwrap_err().starts_with("`.align`"), "{crash}");
        }
        let dimensions = |count| body(&format!(".global .b32 a{};", "[1]".repeat(count)));
        assert_eq!(dimensions(64), Ok(()));
        assert!(dimensions(65).is_err());
        assert_eq!(body(&"ld.param.u64 %rd1, [x];".repeat(1000)), Ok(()));
    }

    #[test]
    fn functions_stand_outside_of_braces_and_have_names() {
        for fine in [
            ".func (.reg .b32 %r) f(.reg .b32 %x) { ret; }",
            ".extern .func vprintf(.param .b64 a);",
            ".visible .entry k() { call.uni (%r1), f, (%r2); ret; }",
        ] {
            assert_eq!(body(fine), Ok(()), "{fine}");
        }
        for crash in [
            ".visible .entry k() { .reg .b32 %r<6>; .func %r2, [p];",
            ".visible .entry%ntid.x name()",
            ".visible .entry %rd2()",
            ".visible .func (.reg .b32 %r)%ntid.x name() { ret; }",
            ".visible .func (.reg .b32 %r, .param .b8 x[4]) %r()",
            ".visible .func .noreturn .attribute(.unified(1, 2)) %clock()",
        ] {
            assert!(body(crash).is_err(), "{crash}");
        }
    }

    /// A compiler may take one for a blank.
    #[test]
    fn control_characters_stand_in_comments_and_strings_only() {
        for crash in [
            ".visible .entry\x1a%ntid.x name()",
            ".visible .entry k() .maxntid\x1a4294967295 { ret; }",
            "add.s32 %r1, %r2, 1/\x1a-1;",
            "\x01",
            "\x7f",
        ] {
            assert!(body(crash).is_err(), "{crash:?}");
        }
        assert_eq!(body("// \x1a\n.file 1 \"\x1a\"\t\r\n\x0c"), Ok(()));
    }

    #[test]
    fn registers_have_a_number() {
        for fine in [
            ".reg .b32 %r<9999999>;",
            ".reg .b32 %r<0x10>;",
            "add.s32 %r1, %r2, 1<<20;",
            "mov.b32 %r1, 16777216;",
        ] {
            assert_eq!(body(fine), Ok(()), "{fine}");
        }
        for crash in [
            ".reg .b32 %r<10000000>;",
            ".reg .f32 %f<2147483648>;",
            ".reg .b64 %rd< /**/ 0x7fffffff >;",
        ] {
            assert!(
                body(crash).unwrap_err().starts_with("a declaration"),
                "{crash}"
            );
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

    /// The project's own PTX, which the texts below are made of.
    const OWN: &[&str] = &[
        include_str!("../../examples/kernels.ptx"),
        include_str!("../../examples/saxpy.ptx"),
        include_str!("../../examples/smooth.ptx"),
        include_str!("../../tests/common/kernels.ptx"),
        include_str!("../../tests/common/launches.ptx"),
        include_str!("../../crates/scoped-cuda-ptx/tests/cuda/asynchronous.ptx"),
        include_str!("../../crates/scoped-cuda-ptx/tests/cuda/misuse.ptx"),
    ];

    /// Words that have crashed a compiler in some place, or might.
    const WORDS: &[&str] = &[
        ".maxntid",
        "4294967295",
        ".align",
        "2147483648",
        ".func",
        ".entry",
        "%r2",
        "/",
        "-1",
        "{",
        "}",
        "[",
        "]",
        ".param",
        ".reg",
        ".b32",
        "0",
        ";",
        ",",
        ".shared",
        "(",
        ")",
        ".reqntid",
        "0x20",
        "%ntid.x",
        "\x1a",
        "<2147483648>",
        ".alias",
        ".global",
        "=",
    ];

    #[test]
    fn what_compilers_write_passes() {
        for text in OWN {
            assert_eq!(check(text), Ok(()));
        }
    }

    /// A text with up to three of its words left out, replaced or doubled.
    fn spoiled(seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut below = |end: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % end as u64) as usize
        };
        let mut text = OWN[below(OWN.len())].to_owned();
        for _ in 0..below(4) {
            let (start, end) = (text.as_ptr().addr(), text.len());
            let words: Vec<_> = Tokens(&text)
                .map(|word| word.as_ptr().addr() - start..word.as_ptr().addr() - start + word.len())
                .filter(|word| word.end <= end)
                .collect();
            let (at, other) = (
                words[below(words.len())].clone(),
                &words[below(words.len())],
            );
            let new = match below(4) {
                0 => String::new(),
                1 => text[other.clone()].to_owned(),
                2 => format!("{} {}", &text[at.clone()], &text[other.clone()]),
                _ => WORDS[below(WORDS.len())].to_owned(),
            };
            text.replace_range(at, &new);
        }
        text
    }

    /// No text that passes the check crashes ptxas. `SCOPED_CUDA_PTXAS=/path/to/ptxas cargo test
    /// --lib ptxas -- --ignored`; `SCOPED_CUDA_PTXAS_TEXTS` says how many texts (100).
    /// `.ci/wheels` gets a ptxas.
    #[test]
    #[ignore = "needs ptxas: SCOPED_CUDA_PTXAS=path cargo test --lib ptxas -- --ignored"]
    fn what_passes_the_check_does_not_crash_ptxas() {
        use std::env::{temp_dir, var};
        let ptxas = var("SCOPED_CUDA_PTXAS").expect("the path of ptxas");
        let texts: u64 = var("SCOPED_CUDA_PTXAS_TEXTS").map_or(100, |texts| texts.parse().unwrap());
        let file = temp_dir().join(format!("scoped-cuda-{}.ptx", std::process::id()));
        let (mut refused, mut compiled) = (0, 0);
        let (mut crashed, mut endless) = (Vec::new(), Vec::new());
        for seed in 0..texts {
            let text = spoiled(seed);
            if check(&text).is_err() {
                refused += 1;
                continue;
            }
            std::fs::write(&file, &text).unwrap();
            let status = std::process::Command::new("timeout")
                .args(["20", &ptxas, "-arch", "sm_90", "-o", "/dev/null"])
                .arg(&file)
                .stderr(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            match status.code() {
                Some(124) => endless.push(seed),
                // Killed by a signal, which `timeout` tells as 128 and more. ptxas itself ends with
                // 255 when the text is wrong.
                None | Some(125..=192) => crashed.push((seed, status.code())),
                Some(code) => compiled += u64::from(code == 0),
            }
        }
        let _ = std::fs::remove_file(file);
        println!("{texts} texts: {refused} refused, {compiled} compiled");
        assert!(
            refused < texts && compiled > 0,
            "the texts are neither all bad nor all good"
        );
        assert_eq!(crashed, [], "seeds, and how ptxas ended");
        assert!(
            endless.len() as u64 <= texts / 1000,
            "seeds whose texts took more than 20 seconds: {endless:?}"
        );
    }
}
