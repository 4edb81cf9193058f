//! Words, strings and marks of a PTX text, and what is said when they are wrong.

use super::{Parsed, Refusal};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Word(&'a [u8]),
    Text(&'a [u8]),
    Mark(u8),
    End,
}

impl<'a> Token<'a> {
    pub(super) fn text(self) -> &'a [u8] {
        match self {
            Self::Word(text) | Self::Text(text) => text,
            Self::Mark(b'{') => b"{",
            Self::Mark(b'}') => b"}",
            Self::Mark(_) => b"a mark",
            Self::End => b"",
        }
    }
}

/// Reads a text from its beginning to its end. What it knows of the language is in the files of its
/// parts.
pub(super) struct Parser<'a> {
    text: &'a [u8],
    position: usize,
    line: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            position: 0,
            line: 1,
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.rest()[..bytes.min(self.rest().len())];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.position += passed.len();
    }

    pub(super) fn next(&mut self) -> Parsed<Token<'a>> {
        self.skip_blank()?;
        let rest = self.rest();
        let Some(&first) = rest.first() else {
            return Ok(Token::End);
        };
        let word = word_bytes(rest);
        let token = if word > 0 {
            Token::Word(&rest[..word])
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

    /// The next token as it is written; none at the end, or when it cannot be read.
    pub(super) fn next_text(&mut self) -> Option<&'a [u8]> {
        self.skip_blank().ok()?;
        let start = self.position;
        match self.next() {
            Ok(Token::End) | Err(_) => None,
            Ok(_) => self.text.get(start..self.position),
        }
    }

    pub(super) fn peek(&mut self) -> Parsed<Token<'a>> {
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

    pub(super) fn word(&mut self) -> Parsed<&'a [u8]> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            token => Err(self.wrong(token.text())),
        }
    }

    /// What something of the program is called.
    pub(super) fn name(&mut self) -> Parsed<String> {
        let word = self.word()?;
        match word.first() {
            Some(first) if *first != b'.' && !first.is_ascii_digit() => {
                Ok(String::from_utf8_lossy(word).into_owned())
            }
            _ => Err(self.wrong(word)),
        }
    }

    pub(super) fn number(&mut self) -> Parsed<usize> {
        let word = self.word()?;
        number(word).ok_or_else(|| self.wrong(word))
    }

    /// What follows `.align`.
    pub(super) fn alignment(&mut self) -> Parsed<usize> {
        let alignment = self.number()?;
        if u32::try_from(alignment).is_err() {
            return Err(self.refuse("Constant overflow"));
        }
        if !alignment.is_power_of_two() {
            return Err(self.refuse("Alignment must be a power of two"));
        }
        Ok(alignment)
    }

    pub(super) fn accept(&mut self, mark: u8) -> Parsed<bool> {
        let is_there = self.peek()? == Token::Mark(mark);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    pub(super) fn expect(&mut self, mark: u8) -> Parsed<()> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            token => Err(self.wrong(token.text())),
        }
    }

    /// Words or strings with commas between.
    pub(super) fn list(&mut self) -> Parsed<()> {
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

    /// What follows a directive, to its semicolon or the end of its block.
    pub(super) fn statement(&mut self) -> Parsed<()> {
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
    pub(super) fn block(&mut self) -> Parsed<()> {
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

    pub(super) fn wrong(&self, near: &[u8]) -> Refusal {
        self.refuse(&format!(
            "Parsing error near '{}': syntax error",
            lossy(near)
        ))
    }

    pub(super) fn refuse(&self, what: &str) -> Refusal {
        let what = self.at_line(what);
        Refusal::Wrong {
            log: format!("{what}\nptxas fatal   : Ptx assembly aborted due to errors"),
        }
    }

    /// In the words of ptxas.
    pub(super) fn at_line(&self, what: &str) -> String {
        format!(
            "ptxas application ptx input, line {}; fatal   : {what}",
            self.line
        )
    }
}

/// How long the word at the beginning of a text is: 0 when there is none.
///
/// As PTX reads words: an identifier has no dot, a directive begins with one, and a number ends
/// where it can. What follows without a blank is another word.
fn word_bytes(text: &[u8]) -> usize {
    match (byte(text, 0), byte(text, 1)) {
        (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => number_bytes(text),
        (b'.' | b'%', second) if is_name(second) => 1 + run(text, 1, is_name),
        _ => run(text, 0, is_name),
    }
}

/// How long the number at the beginning of a text is: `16`, `0x1fU`, `0f3F800000`, `8.0`, `.5e-3`.
fn number_bytes(text: &[u8]) -> usize {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let is_hexadecimal = |byte: u8| byte.is_ascii_hexdigit();
    let with_suffix = |end| end + usize::from(matches!(byte(text, end), b'u' | b'U'));
    match (byte(text, 0), byte(text, 1)) {
        (b'0', b'f' | b'F') if run(text, 2, is_hexadecimal) >= 8 => return 10,
        (b'0', b'd' | b'D') if run(text, 2, is_hexadecimal) >= 16 => return 18,
        (b'0', b'x' | b'X') if run(text, 2, is_hexadecimal) > 0 => {
            return with_suffix(2 + run(text, 2, is_hexadecimal));
        }
        (b'0', b'b' | b'B') if run(text, 2, |byte| matches!(byte, b'0' | b'1')) > 0 => {
            return with_suffix(2 + run(text, 2, |byte| matches!(byte, b'0' | b'1')));
        }
        _ => {}
    }
    let whole = run(text, 0, is_digit);
    let fraction = match byte(text, whole) {
        b'.' => 1 + run(text, whole + 1, is_digit),
        _ => 0,
    };
    let end = whole + fraction;
    let sign = usize::from(matches!(byte(text, end + 1), b'+' | b'-'));
    let exponent = match byte(text, end) {
        b'e' | b'E' => run(text, end + 1 + sign, is_digit),
        _ => 0,
    };
    match (fraction, exponent) {
        (0, 0) => with_suffix(end),
        (_, 0) => end,
        _ => end + 1 + sign + exponent,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// A byte of a text; a blank behind its end.
fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b' ')
}

/// How many bytes from `start` on are such bytes.
fn run(text: &[u8], start: usize, is: fn(u8) -> bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter().take_while(|&&byte| is(byte)).count()
}

pub(super) fn number(word: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(word).ok()?;
    let text = text.trim_end_matches(['u', 'U']);
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some(_) if text.starts_with('0') => (&text[1..], 8),
        _ => (text, 10),
    };
    usize::from_str_radix(digits, radix).ok()
}

/// A word of the text for a message: not all of it when it is long.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned()
}
