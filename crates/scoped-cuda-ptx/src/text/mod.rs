//! The text form: tokens, the grammar, and what was said.

pub(crate) mod ast;
mod body;
mod cursor;
mod directive;
mod expression;
mod initial;
mod lexer;
mod operand;
pub(crate) mod position;
pub(crate) mod types;

pub(crate) use expression::single as expression_single;

use ast::Source;
use position::ParseError;

/// Reads a whole text. Time and memory are linear in its length.
pub(crate) fn parse(text: &str) -> Result<Source, ParseError> {
    let tokens = lexer::tokens(text)?;
    directive::source(&mut cursor::Cursor::new(&tokens))
}
