//! The statements of a function.

use super::ast::{Instruction, Statement};
use super::cursor::Cursor;
use super::directive;
use super::expression;
use super::lexer::Kind;
use super::operand;
use super::position::ParseError;

/// How deep blocks may stand.
const DEPTH_MAX: u32 = 64;

/// Reads from the opening brace to the one that closes it.
pub(super) fn body(cursor: &mut Cursor<'_>) -> Result<Vec<Statement>, ParseError> {
    cursor.expect("{")?;
    let mut statements = Vec::new();
    let mut depth = 1u32;
    loop {
        let token = cursor.peek();
        match token.kind {
            Kind::Mark if token.text == "{" => {
                cursor.take();
                depth += 1;
                if depth > DEPTH_MAX {
                    return cursor.wrong("the blocks are nested too deeply");
                }
                statements.push(Statement::Open);
            }
            Kind::Mark if token.text == "}" => {
                cursor.take();
                depth -= 1;
                if depth == 0 {
                    return Ok(statements);
                }
                statements.push(Statement::Close);
            }
            Kind::Mark if token.text == "@" => {
                statements.push(Statement::Instruction(guarded(cursor)?));
            }
            Kind::Word if cursor.ahead(1).text == ":" && cursor.ahead(1).kind == Kind::Mark => {
                labelled(cursor, &mut statements)?;
            }
            Kind::Word => statements.push(Statement::Instruction(instruction(cursor)?)),
            Kind::Dot => directive(cursor, &mut statements)?,
            _ => return cursor.wrong("an instruction is expected"),
        }
    }
}

fn labelled(cursor: &mut Cursor<'_>, statements: &mut Vec<Statement>) -> Result<(), ParseError> {
    let at = cursor.at();
    let name = cursor.word("a label")?;
    cursor.expect(":")?;
    match cursor.peek().text {
        _ if cursor.peek().kind != Kind::Dot => {}
        "callprototype" => {
            cursor.take();
            if cursor.is_mark("(") {
                directive::parameters(cursor)?;
            }
            cursor.word("`_`")?;
            if cursor.is_mark("(") {
                directive::parameters(cursor)?;
            }
            directive::attributes(cursor)?;
            cursor.expect(";")?;
            statements.push(Statement::Prototype(name));
            return Ok(());
        }
        "branchtargets" | "calltargets" => {
            cursor.take();
            let mut labels = vec![cursor.word("a label")?];
            while cursor.eat(",") {
                labels.push(cursor.word("a label")?);
            }
            cursor.expect(";")?;
            statements.push(Statement::Targets { name, labels });
            return Ok(());
        }
        _ => {}
    }
    statements.push(Statement::Label(name, at));
    Ok(())
}

fn directive(cursor: &mut Cursor<'_>, to: &mut Vec<Statement>) -> Result<(), ParseError> {
    match cursor.peek().text {
        "loc" => {
            cursor.take();
            let file = cursor.number("a file's number")?;
            let line = cursor.number("a line")?;
            cursor.number("a column")?;
            inlined(cursor)?;
            to.push(Statement::Source { file, line });
            Ok(())
        }
        "pragma" => directive::pragma(cursor),
        "section" => directive::section(cursor),
        _ => {
            for variable in directive::variables(cursor)? {
                to.push(Statement::Declare(variable));
            }
            Ok(())
        }
    }
}

/// `, function_name $L__info_string0, inlined_at 1 20 3`
fn inlined(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    while cursor.eat(",") {
        match cursor.word("`function_name` or `inlined_at`")?.as_str() {
            "function_name" => {
                cursor.word("a label")?;
                if cursor.eat("+") {
                    cursor.number("an offset")?;
                }
            }
            _ => {
                cursor.number("a file's number")?;
                cursor.number("a line")?;
                cursor.number("a column")?;
            }
        }
    }
    Ok(())
}

fn guarded(cursor: &mut Cursor<'_>) -> Result<Instruction, ParseError> {
    cursor.expect("@")?;
    let is_negated = cursor.eat("!");
    let predicate = operand::name(cursor)?;
    let mut instruction = instruction(cursor)?;
    instruction.guard = Some((predicate, is_negated));
    Ok(instruction)
}

fn instruction(cursor: &mut Cursor<'_>) -> Result<Instruction, ParseError> {
    let at = cursor.at();
    let opcode = cursor.word("an opcode")?;
    let mut modifiers = Vec::new();
    while cursor.peek().kind == Kind::Dot {
        modifiers.push(cursor.take().text.to_owned());
    }
    // `.b32 %r1, [%rd2], 16, cache-policy` and others are lists of operands like any other.
    let operands = operand::operands(cursor)?;
    cursor.expect(";")?;
    Ok(Instruction {
        guard: None,
        opcode,
        modifiers,
        operands,
        at,
    })
}

/// The numbers after an attribute: `128, 1, 1`.
pub(super) fn numbers(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, ParseError> {
    let mut numbers = Vec::new();
    while cursor.peek().kind == Kind::Number || cursor.is_mark("(") {
        let at = cursor.at();
        let value = u32::try_from(expression::whole(cursor)?);
        numbers.push(value.map_err(|_| ParseError::new(at, "the number is too large"))?);
        if !cursor.eat(",") {
            break;
        }
    }
    Ok(numbers)
}
