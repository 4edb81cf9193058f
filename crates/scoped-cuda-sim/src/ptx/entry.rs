//! Kernels: names, parameters and limits.

use super::lexer::{Parser, Token, lossy};
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
            name: lossy(self.name()?),
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
                Token::Word(_) | Token::Text(_) | Token::Mark(b',') => {}
                token => return Err(self.wrong(token.text())),
            }
        }
    }

    /// The rest of a kernel's body whose brace was read: how much shared memory it declares.
    fn body(&mut self) -> Parsed<usize> {
        let (mut depth, mut shared_bytes) = (1_usize, 0_usize);
        while depth > 0 {
            match self.next()? {
                Token::Mark(b'{') => depth += 1,
                Token::Mark(b'}') => depth -= 1,
                Token::Word(b".shared") => {
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
        }
        Ok(shared_bytes)
    }

    /// Size and alignment of what follows `.shared`: `.align 4 .b8 name[8192]`.
    fn shared(&mut self) -> Parsed<(usize, usize)> {
        let (mut size, mut alignment) = (0, 0);
        loop {
            match self.word()? {
                b".align" => alignment = self.number()?,
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
                b".align" if is_pointer => drop(self.number()?),
                b".align" => alignment = self.number()?,
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
        let offset = end
            .checked_next_multiple_of(alignment)
            .filter(|_| alignment.is_power_of_two());
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
    use super::super::tests::entries;
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
