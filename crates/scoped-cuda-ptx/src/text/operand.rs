//! What an instruction works on.

use super::ast::Operand;
use super::cursor::Cursor;
use super::expression::{self, Constant};
use super::lexer::Kind;
use super::position::ParseError;

/// Reads the operands of an instruction up to its semicolon.
pub(super) fn operands(cursor: &mut Cursor<'_>) -> Result<Vec<Operand>, ParseError> {
    let mut operands = Vec::new();
    if cursor.is_mark(";") {
        return Ok(operands);
    }
    loop {
        operands.push(operand(cursor, 0)?);
        if !cursor.eat(",") {
            return Ok(operands);
        }
    }
}

fn operand(cursor: &mut Cursor<'_>, depth: u32) -> Result<Operand, ParseError> {
    let token = cursor.peek();
    if depth > 2 {
        return cursor.wrong("the operand is nested too deeply");
    }
    if token.kind == Kind::Word && token.text != "WARP_SZ" {
        return named(cursor);
    }
    if token.kind == Kind::Mark {
        match token.text {
            "{" => return Ok(Operand::Vector(list(cursor, "{", "}", depth)?)),
            "(" if cursor.ahead(1).kind == Kind::Word || is_closing(cursor) => {
                return Ok(Operand::Group(list(cursor, "(", ")", depth)?));
            }
            "[" => return address(cursor, depth),
            "!" if cursor.ahead(1).kind == Kind::Word => {
                cursor.take();
                return Ok(Operand::Not(name(cursor)?));
            }
            "-" if cursor.ahead(1).kind == Kind::Word => {
                cursor.take();
                return Ok(Operand::Minus(name(cursor)?));
            }
            _ => {}
        }
    }
    // An argument list may start with a number, which an expression may too.
    if cursor.is_mark("(") && matches!(cursor.ahead(2).text, ",") {
        return Ok(Operand::Group(list(cursor, "(", ")", depth)?));
    }
    Ok(match expression::constant(cursor)? {
        Constant::Integer(value) => Operand::Integer(value),
        Constant::Float(bits) => Operand::Float(bits),
    })
}

fn is_closing(cursor: &Cursor<'_>) -> bool {
    let second = cursor.ahead(1);
    second.kind == Kind::Mark && second.text == ")"
}

/// A name with its component: `%tid.x`.
pub(super) fn name(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    let mut name = cursor.word("a name")?;
    if cursor.peek().kind == Kind::Dot {
        let component = cursor.take();
        if !matches!(
            component.text,
            "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a"
        ) {
            let message = format!("`.{}` is not a component", component.text);
            return Err(ParseError::new(component.at, message));
        }
        name.push('.');
        name.push_str(component.text);
    }
    Ok(name)
}

fn named(cursor: &mut Cursor<'_>) -> Result<Operand, ParseError> {
    if cursor.peek().text == "_" {
        cursor.take();
        if cursor.eat("|") {
            return Ok(Operand::Pair("_".to_owned(), name(cursor)?));
        }
        return Ok(Operand::Sink);
    }
    let first = name(cursor)?;
    if cursor.eat("|") {
        return Ok(Operand::Pair(first, name(cursor)?));
    }
    // `symbol+4`: the address of a variable, with an offset.
    if cursor.is_mark("+") || cursor.is_mark("-") {
        let offset = expression::whole(cursor)? as i64;
        return Ok(Operand::Sum(first, offset));
    }
    Ok(Operand::Name(first))
}

fn list(
    cursor: &mut Cursor<'_>,
    open: &str,
    close: &str,
    depth: u32,
) -> Result<Vec<Operand>, ParseError> {
    cursor.expect(open)?;
    let mut operands = Vec::new();
    if cursor.eat(close) {
        return Ok(operands);
    }
    loop {
        operands.push(operand(cursor, depth + 1)?);
        if !cursor.eat(",") {
            cursor.expect(close)?;
            return Ok(operands);
        }
    }
}

/// `[%rd1]`, `[%rd1+8]`, `[name-4]`, `[64]`, `[map, {x, y}]`
fn address(cursor: &mut Cursor<'_>, depth: u32) -> Result<Operand, ParseError> {
    cursor.expect("[")?;
    let base = match cursor.peek().kind == Kind::Word && cursor.peek().text != "WARP_SZ" {
        true => Some(name(cursor)?),
        false => None,
    };
    let is_offset = base.is_none() || cursor.is_mark("+");
    let offset = match is_offset {
        true => expression::whole(cursor)? as i64,
        false => 0,
    };
    let mut more = Vec::new();
    while cursor.eat(",") {
        more.push(operand(cursor, depth + 1)?);
    }
    cursor.expect("]")?;
    Ok(Operand::Address { base, offset, more })
}
