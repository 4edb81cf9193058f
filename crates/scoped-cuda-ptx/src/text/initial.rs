//! The first values of variables.

use super::ast::Initial;
use super::cursor::Cursor;
use super::expression::{self, Constant};
use super::lexer::Kind;
use super::position::ParseError;

/// How deep braces may stand.
const DEPTH_MAX: u32 = 16;

/// Reads what stands after `=`.
pub(super) fn initial(cursor: &mut Cursor<'_>) -> Result<Initial, ParseError> {
    value(cursor, 0)
}

fn value(cursor: &mut Cursor<'_>, depth: u32) -> Result<Initial, ParseError> {
    if cursor.is_mark("{") {
        return list(cursor, depth);
    }
    let (first, second) = (cursor.peek(), cursor.ahead(1));
    if first.kind == Kind::Word && first.text != "WARP_SZ" {
        return address(cursor);
    }
    // 0xFF(symbol): one byte of an address.
    if first.kind == Kind::Number && second.kind == Kind::Mark && second.text == "(" {
        let mask = u64::from(cursor.number("a mask")?);
        cursor.expect("(")?;
        let mut inner = address(cursor)?;
        cursor.expect(")")?;
        if let Initial::Address { mask: place, .. } = &mut inner {
            *place = Some(mask);
        }
        return Ok(inner);
    }
    Ok(match expression::constant(cursor)? {
        Constant::Integer(value) => Initial::Integer(value),
        Constant::Float(bits) => Initial::Float(bits),
    })
}

fn list(cursor: &mut Cursor<'_>, depth: u32) -> Result<Initial, ParseError> {
    if depth >= DEPTH_MAX {
        return cursor.wrong("the braces are nested too deeply");
    }
    cursor.expect("{")?;
    let mut values = Vec::new();
    if cursor.eat("}") {
        return Ok(Initial::List(values));
    }
    loop {
        values.push(value(cursor, depth + 1)?);
        if !cursor.eat(",") {
            cursor.expect("}")?;
            return Ok(Initial::List(values));
        }
    }
}

/// `symbol`, `symbol+8`, `generic(symbol)`, `generic(symbol)+8`
fn address(cursor: &mut Cursor<'_>) -> Result<Initial, ParseError> {
    let mut symbol = cursor.word("a name")?;
    let generic = symbol == "generic" && cursor.eat("(");
    if generic {
        symbol = cursor.word("a name")?;
        cursor.expect(")")?;
    }
    let is_signed = cursor.is_mark("+") || cursor.is_mark("-");
    let offset = match is_signed {
        true => expression::whole(cursor)? as i64,
        false => 0,
    };
    Ok(Initial::Address {
        symbol,
        offset,
        generic,
        mask: None,
    })
}
