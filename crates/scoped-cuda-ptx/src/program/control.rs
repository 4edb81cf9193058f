//! Branches and calls.

use super::lower::{Lower, Lowered, Trouble};
use super::names::Name;
use super::op::{Argument, Bank, Call, Callee, Op, System};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::Type;

pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    match i.opcode.as_str() {
        "bra" => match l.operand(i, 0)?.clone() {
            Operand::Name(label) if i.operands.len() == 1 => {
                l.jump(0, &label, i.at);
                l.emit(Op::Branch(0));
                Ok(())
            }
            _ => l.wrong(i, "`bra` takes a label"),
        },
        "brx" => table(l, i),
        "call" => call(l, i),
        "ret" => without_operands(l, i, Op::Return),
        "exit" => without_operands(l, i, Op::Exit),
        _ => without_operands(l, i, Op::Trap),
    }
}

fn without_operands(l: &mut Lower<'_>, i: &Instruction, op: Op) -> Lowered<()> {
    if !i.operands.is_empty() {
        return l.wrong(i, format!("`{}` takes no operands", i.name()));
    }
    l.emit(op);
    Ok(())
}

/// `brx.idx %r1, targets`
fn table(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let index = l.source(i, 0, Type::U32)?;
    let Operand::Name(name) = l.operand(i, 1)?.clone() else {
        return l.wrong(i, "`brx` takes a list of labels");
    };
    let Some(labels) = l.tables.get(&name).cloned() else {
        return l.wrong(i, format!("there is no list `{name}`"));
    };
    for (entry, label) in labels.iter().enumerate() {
        l.jump(entry, label, i.at);
    }
    l.emit(Op::Table(index, vec![0; labels.len()].into_boxed_slice()));
    Ok(())
}

/// `call (results), function, (arguments), prototype`
fn call(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let mut operands = i.operands.iter().peekable();
    let mut results = Vec::new();
    if let Some(Operand::Group(group)) = operands.peek() {
        operands.next();
        for operand in group {
            results.push(argument(l, i, operand)?);
        }
    }
    let Some(Operand::Name(name)) = operands.next() else {
        return l.wrong(i, "`call` names a function");
    };
    let mut arguments = Vec::new();
    if let Some(Operand::Group(group)) = operands.next() {
        for operand in group {
            arguments.push(argument(l, i, operand)?);
        }
    }
    let callee = match l.register(name) {
        Some((place, _)) if place.bank == Bank::Long => {
            l.calls_indirectly = true;
            Callee::Register(place.slot)
        }
        Some(_) => {
            return l.wrong(
                i,
                format!("`{name}` is too narrow for a function's address"),
            );
        }
        None => match (l.module.function_index(name), system(name)) {
            (_, Some(system)) => Callee::System(system),
            (Some(function), None) => {
                l.calls.push(function);
                Callee::Function(function)
            }
            (None, None) => return l.wrong(i, format!("there is no function `{name}`")),
        },
    };
    l.emit(Op::Call(Box::new(Call {
        callee,
        arguments,
        results,
    })));
    Ok(())
}

/// The function of CUDA's own that a name means.
pub(super) fn system(name: &str) -> Option<System> {
    Some(match name {
        "vprintf" => System::Printf,
        "__assertfail" => System::AssertFail,
        "malloc" => System::Malloc,
        "free" => System::Free,
        _ => return None,
    })
}

fn argument(l: &mut Lower<'_>, i: &Instruction, operand: &Operand) -> Lowered<Argument> {
    match operand {
        Operand::Sink => Ok(Argument::Sink),
        Operand::Name(name) => {
            if let Some(Name::Param(start, bytes)) = l.names.find(name) {
                return Ok(Argument::Param(start, bytes));
            }
            if let Some((place, _)) = l.register(name) {
                return Ok(Argument::Register(place));
            }
            l.wrong(i, format!("`{name}` cannot be handed to a function"))
        }
        Operand::Integer(_) | Operand::Float(_) => {
            let place = l.value(i, operand, Type::B32)?;
            Ok(Argument::Register(place))
        }
        _ => Err(Trouble::NotSimulated),
    }
}
