//! Where something stands in the text, and what is wrong there.

use std::fmt;

/// A line and a column of the text. Both count from one; a column is a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The text is not PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from one.
    pub line: u32,
    /// The column in bytes, from one.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(at: Position, message: impl Into<String>) -> Self {
        Self {
            line: at.line,
            column: at.column,
            message: message.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for ParseError {}
