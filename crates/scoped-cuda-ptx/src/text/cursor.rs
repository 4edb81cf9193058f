//! A place among the tokens.

use super::lexer::{Kind, Token};
use super::position::{ParseError, Position};

pub(super) struct Cursor<'t> {
    tokens: &'t [Token<'t>],
    next: usize,
}

/// What is read past the end.
const END: Token<'static> = Token {
    kind: Kind::End,
    text: "",
    at: Position { line: 0, column: 0 },
};

impl<'t> Cursor<'t> {
    pub(super) fn new(tokens: &'t [Token<'t>]) -> Self {
        Self { tokens, next: 0 }
    }

    /// The token `ahead` tokens from here.
    pub(super) fn ahead(&self, ahead: usize) -> Token<'t> {
        let last = self.tokens.last().copied().unwrap_or(END);
        let token = self.tokens.get(self.next + ahead);
        token.copied().unwrap_or(last)
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.ahead(0)
    }

    pub(super) fn at(&self) -> Position {
        self.peek().at
    }

    pub(super) fn take(&mut self) -> Token<'t> {
        let token = self.peek();
        self.next += 1;
        token
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Mark && token.text == mark
    }

    pub(super) fn is_dot(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Dot && token.text == word
    }

    /// Takes the mark if it comes next.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let is_next = self.is_mark(mark);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        match self.eat(mark) {
            true => Ok(()),
            false => self.wrong(&format!("`{mark}` is expected")),
        }
    }

    /// Takes the next token, which must be of this kind.
    pub(super) fn expect_kind(&mut self, kind: Kind, what: &str) -> Result<&'t str, ParseError> {
        match self.peek().kind == kind {
            true => Ok(self.take().text),
            false => self.wrong(&format!("{what} is expected")),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String, ParseError> {
        self.expect_kind(Kind::Word, what).map(str::to_owned)
    }

    /// Takes a number of 32 bits.
    pub(super) fn number(&mut self, what: &str) -> Result<u32, ParseError> {
        let at = self.at();
        let text = self.expect_kind(Kind::Number, what)?;
        let value = super::expression::integer(text).and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| ParseError::new(at, format!("{what} is expected, not `{text}`")))
    }

    /// An error at the next token, which it names.
    pub(super) fn wrong<T>(&self, message: &str) -> Result<T, ParseError> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the text ends".to_owned(),
            Kind::Dot => format!("`.{}` stands here", token.text),
            _ => format!("`{}` stands here", token.text),
        };
        Err(ParseError::new(token.at, format!("{message}; {found}")))
    }
}
