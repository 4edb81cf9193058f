//! What the lanes of a warp do together.

use super::lower::{Lower, Lowered, Trouble};
use super::op::{Bank, Direction, Op, Place, Question, Shuffle, Vote};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::Type;

pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    match i.opcode.as_str() {
        "shfl" => shuffle(l, i),
        "vote" => vote(l, i),
        "match" => matching(l, i),
        "redux" => reduce(l, i),
        "elect" => elect(l, i),
        _ => {
            let to = l.target(i, 0, Type::B32)?;
            l.emit(Op::Active(to));
            Ok(())
        }
    }
}

/// The two destinations of `%r1|%p1`.
fn pair(l: &mut Lower<'_>, i: &Instruction, kind: Type) -> Lowered<(u32, Option<u32>)> {
    match l.operand(i, 0)?.clone() {
        Operand::Pair(first, second) => {
            let name = |name: String| {
                if name == "_" {
                    Operand::Sink
                } else {
                    Operand::Name(name)
                }
            };
            let first = l.written(i, &name(first), kind)?;
            Ok((first, Some(l.written(i, &name(second), Type::Pred)?)))
        }
        operand => Ok((l.written(i, &operand, kind)?, None)),
    }
}

/// `shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;`
fn shuffle(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let is_sync = i.has("sync");
    let mode = i
        .modifiers
        .iter()
        .find(|word| *word != "sync")
        .map_or("", String::as_str);
    let direction = match mode {
        "up" => Direction::Up,
        "down" => Direction::Down,
        "bfly" => Direction::Butterfly,
        "idx" => Direction::Index,
        _ => return l.wrong(i, "the mode of `shfl` is .up, .down, .bfly or .idx"),
    };
    let (to, valid) = pair(l, i, Type::B32)?;
    let from = l.source(i, 1, Type::B32)?;
    let lane = l.source(i, 2, Type::B32)?;
    let clamp = l.source(i, 3, Type::B32)?;
    let members = match is_sync {
        true => Some(l.source(i, 4, Type::B32)?),
        false => None,
    };
    l.emit(Op::Shuffle(Box::new(Shuffle {
        direction,
        to,
        valid,
        from,
        lane,
        clamp,
        members,
    })));
    Ok(())
}

/// `vote.sync.ballot.b32 %r1, %p1, -1;`
fn vote(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let is_sync = i.has("sync");
    let mode = i
        .modifiers
        .iter()
        .find(|word| *word != "sync")
        .map_or("", String::as_str);
    let (question, kind, bank) = match mode {
        "all" => (Question::All, Type::Pred, Bank::Predicate),
        "any" => (Question::Any, Type::Pred, Bank::Predicate),
        "uni" => (Question::Uniform, Type::Pred, Bank::Predicate),
        "ballot" => (Question::Ballot, Type::B32, Bank::Word),
        _ => return l.wrong(i, "the mode of `vote` is .all, .any, .uni or .ballot"),
    };
    let to = Place {
        bank,
        slot: l.target(i, 0, kind)?,
    };
    let operand = l.operand(i, 1)?.clone();
    let (operand, is_negated) = match operand {
        Operand::Not(name) => (Operand::Name(name), true),
        other => (other, false),
    };
    let value = l.value(i, &operand, Type::Pred)?;
    let members = match is_sync {
        true => Some(l.source(i, 2, Type::B32)?),
        false => None,
    };
    l.emit(Op::Vote(Box::new(Vote {
        question,
        signed: false,
        to: Some(to),
        valid: None,
        value,
        is_negated,
        members,
    })));
    Ok(())
}

/// `match.any.sync.b32 %r1, %r2, -1;`
fn matching(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let question = match i.has("any") {
        true => Question::MatchAny,
        false => Question::MatchAll,
    };
    let Some(kind) = i.types().next() else {
        return l.wrong(i, "`match` needs a type");
    };
    let (slot, valid) = pair(l, i, Type::B32)?;
    let operand = l.operand(i, 1)?.clone();
    let value = l.value(i, &operand, kind)?;
    let members = Some(l.source(i, 2, Type::B32)?);
    l.emit(Op::Vote(Box::new(Vote {
        question,
        signed: false,
        to: Some(Place {
            bank: Bank::Word,
            slot,
        }),
        valid,
        value,
        is_negated: false,
        members,
    })));
    Ok(())
}

/// `redux.sync.add.s32 %r1, %r2, -1;`
fn reduce(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let question = match i.modifiers.get(1).map_or("", String::as_str) {
        "add" => Question::Add,
        "min" => Question::Min,
        "max" => Question::Max,
        "and" => Question::And,
        "or" => Question::Or,
        "xor" => Question::Xor,
        _ => return l.wrong(i, "`redux` does not know the operation"),
    };
    let kind = match i.types().next() {
        Some(kind @ (Type::U32 | Type::S32 | Type::B32)) => kind,
        _ => return Err(Trouble::NotSimulated),
    };
    let slot = l.target(i, 0, kind)?;
    let operand = l.operand(i, 1)?.clone();
    let value = l.value(i, &operand, kind)?;
    let members = Some(l.source(i, 2, Type::B32)?);
    l.emit(Op::Vote(Box::new(Vote {
        question,
        signed: kind == Type::S32,
        to: Some(Place {
            bank: Bank::Word,
            slot,
        }),
        valid: None,
        value,
        is_negated: false,
        members,
    })));
    Ok(())
}

/// `elect.sync %r1|%p1, -1;`
fn elect(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let (slot, valid) = pair(l, i, Type::B32)?;
    let members = l.source(i, 1, Type::B32)?;
    l.emit(Op::Vote(Box::new(Vote {
        question: Question::Elect,
        signed: false,
        to: Some(Place {
            bank: Bank::Word,
            slot,
        }),
        valid,
        value: Place {
            bank: Bank::Word,
            slot: members,
        },
        is_negated: false,
        members: Some(members),
    })));
    Ok(())
}
