//! Reads PTX text as far as a launch needs it: the entries, their parameters and their limits.
//!
//! Instructions are skipped, not checked. Any bytes may be given.

/// A kernel of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    /// The most threads of a block, when `.maxntid` or `.reqntid` says so.
    pub(super) max_threads: Option<u32>,
}

/// Where a parameter's bytes are in the parameter space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parameter {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Entry {
    /// Bytes of all parameters.
    pub(super) fn parameter_bytes(&self) -> usize {
        self.parameters
            .last()
            .map_or(0, |last| last.offset + last.size)
    }
}

/// Why an image does not load, in the driver's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// It is something else than PTX text.
    NotPtx,
    /// A newer PTX version than the driver knows.
    TooNew {
        log: String,
    },
    Wrong {
        log: String,
    },
}

impl Refusal {
    pub(super) fn log(&self) -> &str {
        match self {
            Self::NotPtx => "error   : Binary format for key='0', ident='' is not recognized",
            Self::TooNew { log } | Self::Wrong { log } => log,
        }
    }
}

/// The newest `.target` that the driver knows.
const NEWEST_TARGET: usize = 121;
/// The newest `.target` that the devices run: their compute capability.
pub(super) const DEVICE_TARGET: u32 = 90;
/// The most bytes of parameters that a kernel may have.
const PARAMETER_BYTES_MAX: usize = 32_764;

type Parsed<T> = Result<T, Refusal>;

/// The entries of a PTX text whose version (major, minor) is at most `newest`.
pub(super) fn parse(text: &[u8], newest: (u32, u32)) -> Parsed<Vec<Entry>> {
    let mut parser = Parser {
        text,
        position: 0,
        line: 1,
    };
    if parser.next()? != Token::Word(b".version") {
        return Err(Refusal::NotPtx);
    }
    parser.version(newest)?;
    parser.target()?;
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        match parser.next()? {
            Token::End => return Ok(entries),
            Token::Word(b".entry") => {
                let entry = parser.entry()?;
                if entries.iter().any(|other| other.name == entry.name) {
                    return Err(parser.wrong(entry.name.as_bytes()));
                }
                entries.push(entry);
            }
            Token::Word(b".visible" | b".weak" | b".extern" | b".common") => {}
            Token::Word(b".address_size") => drop(parser.word()?),
            Token::Word(b".file") => {
                parser.word()?;
                parser.list()?;
            }
            Token::Word(b".section") => {
                parser.word()?;
                parser.statement()?;
            }
            Token::Word(word) if word.starts_with(b".") => parser.statement()?,
            token => return Err(parser.wrong(token.text())),
        }
    }
}

/// The words, strings and marks of a text, without what is between them; up to the first that cannot be read.
pub(super) fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let mut parser = Parser {
        text,
        position: 0,
        line: 1,
    };
    let mut tokens = Vec::new();
    loop {
        let found = parser.skip_blank().map(|()| parser.position);
        match (found, parser.next()) {
            (Ok(start), Ok(token)) if token != Token::End => {
                tokens.push(&text[start..parser.position]);
            }
            _ => return tokens,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Word(&'a [u8]),
    Text(&'a [u8]),
    Mark(u8),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> &'a [u8] {
        match self {
            Self::Word(text) | Self::Text(text) => text,
            Self::Mark(b'{') => b"{",
            Self::Mark(b'}') => b"}",
            Self::Mark(_) => b"a mark",
            Self::End => b"",
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    position: usize,
    line: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.rest()[..bytes.min(self.rest().len())];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.position += passed.len();
    }

    fn next(&mut self) -> Parsed<Token<'a>> {
        self.skip_blank()?;
        let rest = self.rest();
        let Some(&first) = rest.first() else {
            return Ok(Token::End);
        };
        let token = if is_word(first) {
            let end = rest
                .iter()
                .position(|&byte| !is_word(byte))
                .unwrap_or(rest.len());
            Token::Word(&rest[..end])
        } else if first == b'"' {
            let end = rest[1..]
                .iter()
                .position(|&byte| byte == b'"')
                .ok_or_else(|| self.wrong(b"\""))?;
            Token::Text(&rest[..end + 2])
        } else {
            Token::Mark(first)
        };
        self.advance(match token {
            Token::Word(text) | Token::Text(text) => text.len(),
            Token::Mark(_) | Token::End => 1,
        });
        Ok(token)
    }

    fn peek(&mut self) -> Parsed<Token<'a>> {
        let before = (self.position, self.line);
        let token = self.next();
        (self.position, self.line) = before;
        token
    }

    fn skip_blank(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            let blank = rest
                .iter()
                .position(|byte| !byte.is_ascii_whitespace())
                .unwrap_or(rest.len());
            self.advance(blank);
            let rest = self.rest();
            if rest.starts_with(b"//") {
                self.advance(
                    rest.iter()
                        .position(|&byte| byte == b'\n')
                        .unwrap_or(rest.len()),
                );
            } else if rest.starts_with(b"/*") {
                let end = rest[2..]
                    .windows(2)
                    .position(|pair| pair == b"*/")
                    .ok_or_else(|| self.wrong(b"/*"))?;
                self.advance(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Parsed<&'a [u8]> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            token => Err(self.wrong(token.text())),
        }
    }

    fn number(&mut self) -> Parsed<usize> {
        let word = self.word()?;
        number(word).ok_or_else(|| self.wrong(word))
    }

    fn accept(&mut self, mark: u8) -> Parsed<bool> {
        let is_there = self.peek()? == Token::Mark(mark);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    fn expect(&mut self, mark: u8) -> Parsed<()> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            token => Err(self.wrong(token.text())),
        }
    }

    /// Words or strings with commas between.
    fn list(&mut self) -> Parsed<()> {
        loop {
            match self.next()? {
                Token::Word(_) | Token::Text(_) => {}
                token => return Err(self.wrong(token.text())),
            }
            if !self.accept(b',')? {
                return Ok(());
            }
        }
    }

    /// What follows `.version`.
    fn version(&mut self, newest: (u32, u32)) -> Parsed<()> {
        let word = self.word()?;
        let mut numbers = word.split(|&byte| byte == b'.').map(number);
        let (Some(Some(major)), Some(Some(minor)), None) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return Err(self.wrong(word));
        };
        if (major, minor) <= (newest.0 as usize, newest.1 as usize) {
            return Ok(());
        }
        let what = format!(
            "Unsupported .version {}; current version is '{}.{}'",
            lossy(word),
            newest.0,
            newest.1
        );
        Err(Refusal::TooNew {
            log: self.at_line(&what),
        })
    }

    /// `.target` and its list.
    fn target(&mut self) -> Parsed<()> {
        if self.next()? != Token::Word(b".target") {
            return Err(
                self.refuse("Missing .target directive at start of file 'application ptx input'")
            );
        }
        let word = self.word()?;
        let name = lossy(word);
        let model = name.strip_prefix("sm_").unwrap_or("0");
        let model = model.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        match number(model.as_bytes()) {
            Some(model) if model <= DEVICE_TARGET as usize => {}
            Some(model) if model <= NEWEST_TARGET => {
                let log = "ptxas fatal   : SM version specified by .target is higher than default SM version assumed";
                return Err(Refusal::Wrong {
                    log: log.to_owned(),
                });
            }
            _ => return Err(self.refuse(&format!("Unsupported .target '{name}'"))),
        }
        if self.accept(b',')? {
            self.list()?;
        }
        Ok(())
    }

    /// What follows a directive, to its semicolon or the end of its block.
    fn statement(&mut self) -> Parsed<()> {
        let mut is_initializer = false;
        loop {
            match self.next()? {
                Token::Mark(b';') => return Ok(()),
                Token::Mark(b'=') => is_initializer = true,
                Token::Mark(b'{') => {
                    self.block()?;
                    if !is_initializer {
                        return Ok(());
                    }
                }
                Token::End | Token::Mark(b'}') => return Err(self.wrong(b"")),
                _ => {}
            }
        }
    }

    /// The rest of a block whose brace was read.
    fn block(&mut self) -> Parsed<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Token::Mark(b'{') => depth += 1,
                Token::Mark(b'}') => depth -= 1,
                Token::End => return Err(self.wrong(b"")),
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let word = self.word()?;
        if word
            .first()
            .is_none_or(|&first| first == b'.' || first.is_ascii_digit())
        {
            return Err(self.wrong(word));
        }
        let mut entry = Entry {
            name: lossy(word),
            parameters: Vec::new(),
            max_threads: None,
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
                    self.block()?;
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
        while self.accept(b'[')? {
            size = size
                .checked_mul(self.number()?)
                .ok_or_else(|| self.wrong(b"["))?;
            self.expect(b']')?;
        }
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

    fn wrong(&self, near: &[u8]) -> Refusal {
        self.refuse(&format!(
            "Parsing error near '{}': syntax error",
            lossy(near)
        ))
    }

    fn refuse(&self, what: &str) -> Refusal {
        let what = self.at_line(what);
        Refusal::Wrong {
            log: format!("{what}\nptxas fatal   : Ptx assembly aborted due to errors"),
        }
    }

    /// In the words of ptxas.
    fn at_line(&self, what: &str) -> String {
        format!(
            "ptxas application ptx input, line {}; fatal   : {what}",
            self.line
        )
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$' | b'%' | b'@')
}

fn number(word: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(word).ok()?;
    let text = text.trim_end_matches(['u', 'U']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn type_size(word: &[u8]) -> Option<usize> {
    Some(match word {
        b".b8" | b".u8" | b".s8" => 1,
        b".b16" | b".u16" | b".s16" | b".f16" | b".bf16" => 2,
        b".b32" | b".u32" | b".s32" | b".f32" | b".f16x2" | b".bf16x2" => 4,
        b".b64" | b".u64" | b".s64" | b".f64" | b".texref" | b".samplerref" | b".surfref" => 8,
        b".b128" => 16,
        _ => return None,
    })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_90, debug\n.address_size 64\n";

    fn entries(body: &str) -> Vec<Entry> {
        parse(format!("{HEADER}{body}").as_bytes(), (9, 0)).unwrap()
    }

    fn log(body: &str) -> String {
        match parse(format!("{HEADER}{body}").as_bytes(), (9, 0)) {
            Err(Refusal::Wrong { log }) => log,
            other => panic!("{other:?}"),
        }
    }

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

    #[test]
    fn what_is_not_an_entry_is_skipped() {
        let found = entries(
            ".file 1 \"x{.cu\", 12, 13\n.global .align 4 .u32 g[2] = {1, 2};\n.extern .func (.param .b32 r) vprintf (.param .b64 a);\n\
             .func f(.reg .u32 x) { { ret; } }\n.extern .shared .align 16 .b8 s[];\n.section .debug_info { .b8 1,2 }\n.entry k { ret; }",
        );
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn other_text_is_not_ptx_and_broken_ptx_is_wrong() {
        assert_eq!(parse(b"fn main() {}", (9, 0)), Err(Refusal::NotPtx));
        assert_eq!(parse(b"", (9, 0)), Err(Refusal::NotPtx));
        assert_eq!(parse(b"\x7fELF\x02\x01", (9, 0)), Err(Refusal::NotPtx));
        for newer in [
            ".version 99.0\n.target sm_90",
            ".version 9.1\n.target sm_90",
        ] {
            assert!(matches!(
                parse(newer.as_bytes(), (9, 0)),
                Err(Refusal::TooNew { .. })
            ));
        }
        for target in ["sm_999", "sm_100", "sm_100a", "sm_", "sm_9x9"] {
            let text = format!(".version 9.0\n.target {target}");
            assert!(matches!(
                parse(text.as_bytes(), (9, 0)),
                Err(Refusal::Wrong { .. })
            ));
        }
        for body in [
            "nonsense",
            ".entry",
            ".entry k(",
            ".entry k(.param .u32)",
            ".entry k(.param .u33 x) {}",
            ".entry k {",
            "}",
            ".entry 1k {}",
            ".entry k(.param .align 3 .b8 x[4]) {}",
            ".entry k(.param .b8 x[99999999999999999999]) {}",
            ".entry k(.param .b64 x[9223372036854775807]) {}",
            ".entry k {} .entry k {}",
            ".global .u32 x",
            "/* open",
            ".file 1 \"open",
        ] {
            assert!(log(body).contains("fatal"), "{body}");
        }
        assert!(
            log("\n\n.entry k(oops)").contains("line 6"),
            "{}",
            log("\n\n.entry k(oops)")
        );
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = format!(
            "{HEADER}.entry k(.param .align 8 .b8 s[24], .param .u64 .ptr .global x) .maxntid 1,2 {{ \"x\" }}"
        );
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..20_000 {
            let mut bytes = whole.clone().into_bytes();
            bytes.truncate(round % (bytes.len() + 1));
            for _ in 0..round % 4 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                if !bytes.is_empty() {
                    let at = random as usize % bytes.len();
                    bytes[at] = (random >> 32) as u8;
                }
            }
            drop(parse(&bytes, (9, 0)));
        }
    }
}
