//! Kernels: names, parameters and limits.

use super::lexer::{Parser, Token};
use super::{Parsed, type_size};
use crate::attributes::SHARED_BYTES_MAX;

/// A kernel of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The most threads of a block, when `.maxntid` or `.reqntid` says so.
    pub(crate) max_threads: Option<u32>,
    /// Static shared memory in bytes.
    pub(crate) shared_bytes: usize,
}

/// Where a parameter's bytes are in the parameter space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// What may stand between the parameters of a kernel and its body, and is not looked at.
const DIRECTIVES: [&[u8]; 10] = [
    b".abi_preserve",
    b".abi_preserve_control",
    b".blocksareclusters",
    b".explicitcluster",
    b".maxclusterrank",
    b".maxnctapersm",
    b".maxnreg",
    b".minnctapersm",
    b".noreturn",
    b".reqnctapercluster",
];
/// The most bytes of parameters that a kernel may have.
const PARAMETER_BYTES_MAX: usize = 32_764;

impl Entry {
    /// Bytes of all parameters.
    pub(crate) fn parameter_bytes(&self) -> usize {
        self.parameters
            .last()
            .map_or(0, |last| last.offset + last.size)
    }
}

impl Parser<'_> {
    pub(super) fn entry(&mut self) -> Parsed<Entry> {
        let mut entry = Entry {
            name: self.name()?,
            parameters: Vec::new(),
            max_threads: None,
            shared_bytes: 0,
        };
        if self.accept(b'(')? && !self.accept(b')')? {
            loop {
                let end = entry.parameter_bytes();
                entry.parameters.push(self.parameter(end)?);
                if !self.accept(b',')? {
                    break;
                }
            }
            self.expect(b')')?;
        }
        loop {
            match self.next()? {
                Token::Mark(b'{') => {
                    entry.shared_bytes = self.body()?;
                    return Ok(entry);
                }
                Token::Mark(b';') => return Ok(entry),
                Token::Word(b".maxntid" | b".reqntid") => {
                    let mut threads = self.number()?;
                    while self.accept(b',')? {
                        threads = threads.saturating_mul(self.number()?);
                    }
                    entry.max_threads = Some(u32::try_from(threads).unwrap_or(u32::MAX));
                }
                Token::Word(b".pragma") => self.statement()?,
                Token::Word(word) if DIRECTIVES.contains(&word) => {}
                Token::Word(word) if word.first().is_some_and(u8::is_ascii_digit) => {}
                Token::Mark(b',') => {}
                token => return Err(self.wrong(token.text())),
            }
        }
    }

    /// The rest of a kernel's body whose brace was read: how much shared memory it declares.
    fn body(&mut self) -> Parsed<usize> {
        let (mut depth, mut shared_bytes) = (1_usize, 0_usize);
        // A declaration begins a statement; elsewhere it is a modifier, as in `ld.shared.f32`.
        let mut is_first = true;
        while depth > 0 {
            let token = self.next()?;
            match token {
                Token::Mark(b'{') => depth += 1,
                Token::Mark(b'}') => depth -= 1,
                Token::Word(b".shared") if is_first => {
                    let (size, alignment) = self.shared()?;
                    let begin = shared_bytes.checked_next_multiple_of(alignment.max(1));
                    shared_bytes = begin
                        .and_then(|begin| begin.checked_add(size))
                        .filter(|&end| end <= SHARED_BYTES_MAX as usize)
                        .ok_or_else(|| self.wrong(b".shared"))?;
                }
                Token::End => return Err(self.wrong(b"")),
                _ => {}
            }
            is_first = matches!(token, Token::Mark(b'{' | b'}' | b';' | b':'));
        }
        Ok(shared_bytes)
    }

    /// Size and alignment of what follows `.shared`: `.align 4 .b8 name[8192]`.
    fn shared(&mut self) -> Parsed<(usize, usize)> {
        let (mut size, mut alignment) = (0, 0);
        loop {
            match self.word()? {
                b".align" => alignment = self.alignment()?,
                word if word.starts_with(b".") => {
                    size = type_size(word).ok_or_else(|| self.wrong(word))?;
                }
                _ => break,
            }
        }
        if alignment == 0 {
            alignment = size;
        }
        let size = self.of_array(size)?;
        Ok((size, alignment))
    }

    /// The size of an array of elements of this size, with the dimensions that follow; of one, when
    /// none do.
    fn of_array(&mut self, mut size: usize) -> Parsed<usize> {
        while self.accept(b'[')? {
            size = size
                .checked_mul(self.number()?)
                .ok_or_else(|| self.wrong(b"["))?;
            self.expect(b']')?;
        }
        Ok(size)
    }

    /// `.param .align 8 .b8 name[24]`, `.param .u64 .ptr .global .align 4 name` and the like.
    fn parameter(&mut self, end: usize) -> Parsed<Parameter> {
        match self.next()? {
            Token::Word(b".param") => {}
            token => return Err(self.wrong(token.text())),
        }
        let (mut size, mut alignment, mut is_pointer) = (0, 0, false);
        let mut lanes = 1;
        loop {
            let word = self.word()?;
            match word {
                // After `.ptr` it is the alignment of what is pointed to.
                b".align" if is_pointer => drop(self.alignment()?),
                b".align" => alignment = self.alignment()?,
                b".ptr" => is_pointer = true,
                b".global" | b".const" | b".local" | b".shared" if is_pointer => {}
                b".v2" => lanes = 2,
                b".v4" => lanes = 4,
                _ if word.starts_with(b".") => {
                    size = type_size(word).ok_or_else(|| self.wrong(word))?
                }
                _ => break,
            }
        }
        if size == 0 {
            return Err(self.wrong(b".param"));
        }
        size *= lanes;
        if alignment == 0 {
            alignment = size;
        }
        let size = self.of_array(size)?;
        let offset = end.checked_next_multiple_of(alignment);
        let fits = |offset: &usize| {
            offset
                .checked_add(size)
                .is_some_and(|end| end <= PARAMETER_BYTES_MAX)
        };
        let offset = offset.filter(fits).ok_or_else(|| self.wrong(b".param"))?;
        Ok(Parameter { offset, size })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{entries, log};
    use super::*;

    fn layout(entry: &Entry) -> Vec<(usize, usize)> {
        entry
            .parameters
            .iter()
            .map(|parameter| (parameter.offset, parameter.size))
            .collect()
    }

    #[test]
    fn parameters_have_their_natural_or_stated_alignment() {
        let found = entries(
            "// a comment { with a brace\n/* .entry no */\n.visible .entry k(\n\t.param .u32 k_param_0,\n\
             .param .u64 .ptr .global .align 4 k_param_1, .param .u8 b, .param .align 16 .b8 s[24], .param .f32 f\n)\n\
             .maxntid 128, 2\n.minnctapersm 1\n{ { ret; } // }\n}",
        );
        assert_eq!(found[0].name, "k");
        assert_eq!(
            layout(&found[0]),
            [(0, 4), (8, 8), (16, 1), (32, 24), (56, 4)]
        );
        assert_eq!(found[0].max_threads, Some(256));
    }

    /// A name ends at a dot, and a directive needs no blank before it.
    #[test]
    fn words_end_as_in_ptx() {
        let found = entries(
            ".entry kernel.maxntid 32 { ret; } .entry $b(.param.u32 x)\n.maxntid\t0x10,2{ret;}",
        );
        assert_eq!(
            (found[0].name.as_str(), found[0].max_threads),
            ("kernel", Some(32))
        );
        assert_eq!(
            (found[1].name.as_str(), found[1].max_threads),
            ("$b", Some(32))
        );
        let pragma = entries(".entry k() .pragma \"nounroll\"; .minnctapersm 1 { ret; }");
        assert_eq!(pragma[0].name, "k");
        let long = "_Z".repeat(500);
        assert_eq!(
            entries(&format!(".entry {long}() {{ ret; }}"))[0].name,
            long
        );
        for (text, why) in [
            (".entry a.entry b { ret; }", "near '.entry'"),
            (".entry k() foo { ret; }", "near 'foo'"),
            (".entry k() .foo { ret; }", "near '.foo'"),
            (".entry a%b() { ret; }", "near '%b'"),
            (".entry @a() { ret; }", "near 'a mark'"),
            (
                ".entry k() .maxnreg 32.maxntid 64 { ret; }",
                "near 'maxntid'",
            ),
            (
                ".entry k() .maxntid 32.minnctapersm 1 { ret; }",
                "near '32.'",
            ),
            (".entry k() .maxntid 1e9 { ret; }", "near '1e9'"),
            (
                ".entry k(.param .align 0 .b8 x[4]) { ret; }",
                "power of two",
            ),
            (
                ".entry k(.param .align 4294967296 .b8 x[4]) { ret; }",
                "overflow",
            ),
            (
                ".entry k(.param .u64 .ptr .align 3 x) { ret; }",
                "power of two",
            ),
            (
                ".entry k() { .shared .align 0 .b8 x[4]; ret; }",
                "power of two",
            ),
        ] {
            let log = log(text);
            assert!(log.contains(why), "{text}: {log}");
        }
    }

    #[test]
    fn shared_memory_is_what_a_body_declares() {
        let found = entries(
            ".entry k() { .shared .align 16 .b8 a[20];.shared .f32 b; L: ld.shared.f32 %f1, [b]; { .shared .u64 c; }\n\
             cvta.shared.u64 %rd1, %rd2; st.shared.f32 [b], %f1; ret; }",
        );
        assert_eq!(found[0].shared_bytes, 32);
    }

    #[test]
    fn an_entry_needs_no_parameter_list() {
        let found = entries(
            ".entry a { ret; }\n.weak .entry $b() { ret; } .visible .entry c(.param .b64 x) { ret; }",
        );
        assert_eq!(
            found
                .iter()
                .map(|entry| entry.name.as_str())
                .collect::<Vec<_>>(),
            ["a", "$b", "c"]
        );
        assert!(found[0].parameters.is_empty() && found[1].parameters.is_empty());
    }
}
