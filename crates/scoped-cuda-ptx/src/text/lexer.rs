//! Words, numbers and marks.

use super::position::{ParseError, Position};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, a register, an opcode, or `_`.
    Word,
    /// A word after a dot: a directive, a modifier, a component. The text is without the dot.
    Dot,
    /// A number, as it was written.
    Number,
    /// What stands between quotes.
    Text,
    /// One of the signs.
    Mark,
    /// The end of the text.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) at: Position,
}

/// The signs of two characters. Every other sign is one character.
const PAIRS: [&str; 8] = ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];

/// Cuts the text into tokens. The last one is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer {
        text,
        offset: 0,
        line: 1,
        line_start: 0,
    };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.token()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    offset: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.offset + ahead).copied().unwrap_or(0)
    }

    fn position(&self) -> Position {
        Position {
            line: self.line,
            column: (self.offset - self.line_start + 1) as u32,
        }
    }

    /// Goes on by one byte.
    fn step(&mut self) {
        if self.byte(0) == b'\n' {
            self.line += 1;
            self.line_start = self.offset + 1;
        }
        self.offset += 1;
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.offset < self.text.len() && keep(self.byte(0)) {
            self.offset += 1;
        }
    }

    /// Passes over blanks and comments. The driver takes a NUL as the end; so does this.
    fn skip_blank(&mut self) -> Result<(), ParseError> {
        while self.offset < self.text.len() {
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C, _) => self.step(),
                (b'/', b'/') => self.take_while(|byte| byte != b'\n'),
                (b'#', _) if self.offset == self.line_start => {
                    self.take_while(|byte| byte != b'\n');
                }
                (b'/', b'*') => self.skip_comment()?,
                (0, _) => self.offset = self.text.len(),
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let at = self.position();
        self.offset += 2;
        while !(self.byte(0) == b'*' && self.byte(1) == b'/') {
            if self.offset >= self.text.len() {
                return Err(ParseError::new(at, "the comment does not end"));
            }
            self.step();
        }
        self.offset += 2;
        Ok(())
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank()?;
        let (at, start) = (self.position(), self.offset);
        let (first, second) = (self.byte(0), self.byte(1));
        let kind = match first {
            _ if start >= self.text.len() => Kind::End,
            b'"' => return self.quoted(at),
            b'.' if is_in_word(second) => {
                self.offset += 1;
                self.dotted();
                Kind::Dot
            }
            b'0'..=b'9' => {
                self.number();
                Kind::Number
            }
            b'%' if !is_in_word(second) => {
                self.offset += 1;
                Kind::Mark
            }
            b'_' | b'$' | b'%' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.offset += 1;
                self.take_while(is_in_word);
                Kind::Word
            }
            0x21..=0x7E => {
                let pair = self.text.get(start..start + 2);
                let is_pair = pair.is_some_and(|pair| PAIRS.contains(&pair));
                self.offset += if is_pair { 2 } else { 1 };
                Kind::Mark
            }
            _ => return Err(ParseError::new(at, "the character is not allowed here")),
        };
        let start = if kind == Kind::Dot { start + 1 } else { start };
        let text = self.text.get(start..self.offset).unwrap_or("");
        Ok(Token { kind, text, at })
    }

    /// `global`, or words joined by `::` such as `L1::no_allocate`.
    fn dotted(&mut self) {
        self.take_while(is_in_word);
        while self.byte(0) == b':' && self.byte(1) == b':' && is_in_word(self.byte(2)) {
            self.offset += 2;
            self.take_while(is_in_word);
        }
    }

    fn number(&mut self) {
        let is_decimal = !(self.byte(0) == b'0' && self.byte(1).is_ascii_alphabetic());
        self.take_while(|byte| byte.is_ascii_digit() || (!is_decimal && is_in_word(byte)));
        if !is_decimal {
            return;
        }
        if self.byte(0) == b'.' && !self.byte(1).is_ascii_alphabetic() {
            self.offset += 1;
            self.take_while(|byte| byte.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + sign).is_ascii_digit() {
            self.offset += 1 + sign;
            self.take_while(|byte| byte.is_ascii_digit());
        }
        self.take_while(is_in_word);
    }

    fn quoted(&mut self, at: Position) -> Result<Token<'a>, ParseError> {
        self.offset += 1;
        let start = self.offset;
        loop {
            match self.byte(0) {
                b'"' => break,
                b'\n' | 0 => return Err(ParseError::new(at, "the string does not end")),
                b'\\' if self.byte(1) != b'\n' => self.offset += 2,
                _ => self.offset += 1,
            }
            if self.offset >= self.text.len() {
                return Err(ParseError::new(at, "the string does not end"));
            }
        }
        let text = self.text.get(start..self.offset).unwrap_or("");
        self.offset += 1;
        Ok(Token {
            kind: Kind::Text,
            text,
            at,
        })
    }
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(Kind, &str)> {
        let tokens = tokens(text).unwrap();
        tokens
            .iter()
            .map(|token| (token.kind, token.text))
            .collect()
    }

    #[test]
    fn an_instruction_is_words_dots_and_marks() {
        use Kind::{Dot, End, Mark, Number, Word};
        assert_eq!(
            pieces("ld.global.L1::no_allocate.f32 %f1, [%rd1+4]; // load"),
            [
                (Word, "ld"),
                (Dot, "global"),
                (Dot, "L1::no_allocate"),
                (Dot, "f32"),
                (Word, "%f1"),
                (Mark, ","),
                (Mark, "["),
                (Word, "%rd1"),
                (Mark, "+"),
                (Number, "4"),
                (Mark, "]"),
                (Mark, ";"),
                (End, "")
            ]
        );
    }

    #[test]
    fn numbers_keep_their_spelling() {
        for text in ["0f3F800000", "0x1F", "1.5", "1e-5", "0", "12U", "9.5"] {
            assert_eq!(pieces(text)[0], (Kind::Number, text));
        }
    }

    #[test]
    fn what_does_not_end_is_an_error_at_its_start() {
        let error = tokens("ret;\n  /* ret;").unwrap_err();
        assert_eq!((error.line, error.column), (2, 3));
        assert!(tokens("\"abc").is_err());
        assert!(tokens("\"abc\\").is_err());
    }
}
