//! Barriers and fences.

use super::lower::{Lower, Lowered, Trouble};
use super::op::{Bank, Barrier, ClusterBarrier, Op, Place, Reduction, Scope};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::Type;

pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    match i.opcode.as_str() {
        "nanosleep" => {
            l.source(i, 0, Type::U32)?;
            l.emit(Op::Sleep);
            Ok(())
        }
        "fence" | "membar" => {
            l.emit(Op::Fence(scope(i)));
            Ok(())
        }
        _ if i.has("warp") => {
            let mask = l.source(i, 0, Type::B32)?;
            l.emit(Op::SyncWarp(mask));
            Ok(())
        }
        _ if i.has("cluster") => cluster(l, i),
        _ => barrier(l, i),
    }
}

/// How far an instruction's effect is seen.
pub(super) fn scope(i: &Instruction) -> Scope {
    let has = |word: &str| i.has(word);
    if has("sys") {
        Scope::System
    } else if has("gpu") || has("gl") {
        Scope::Device
    } else if has("cluster") {
        Scope::Cluster
    } else {
        Scope::Block
    }
}

fn cluster(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let is_wait = i.has("wait");
    l.emit(Op::Cluster(match is_wait {
        true => ClusterBarrier::Wait,
        false => ClusterBarrier::Arrive,
    }));
    Ok(())
}

/// `bar.sync 0, 64;`, `barrier.red.popc.u32 %r1, 0, !%p1;`
fn barrier(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let is_reduction = i.has("red");
    let result = match (is_reduction, i.types().next()) {
        (false, _) => None,
        (true, Some(kind @ Type::Pred)) => Some((kind, Bank::Predicate)),
        (true, Some(kind @ Type::U32)) => Some((kind, Bank::Word)),
        (true, _) => return l.wrong(i, "the type is .pred or .u32"),
    };
    let first = usize::from(is_reduction);
    let operands = i.operands.get(first..).unwrap_or(&[]);
    let counted = operands.len() - usize::from(is_reduction && !operands.is_empty());
    let number = l.operand(i, first)?.clone();
    let number = l.value(i, &number, Type::U32)?;
    let threads = match counted {
        2 => Some(Place {
            bank: Bank::Word,
            slot: l.source(i, first + 1, Type::U32)?,
        }),
        1 => None,
        _ => {
            return l.wrong(
                i,
                format!("`{}` has too few or too many operands", i.name()),
            );
        }
    };
    let reduction = match result {
        None => None,
        Some((kind, bank)) => {
            let (name, is_negated) = match operands.last() {
                Some(Operand::Name(name)) => (name.clone(), false),
                Some(Operand::Not(name)) => (name.clone(), true),
                _ => return Err(Trouble::NotSimulated),
            };
            let predicate = l.value(i, &Operand::Name(name), Type::Pred)?.slot;
            let slot = l.target(i, 0, kind)?;
            let how = match (i.has("popc"), i.has("and")) {
                (true, _) => Reduction::Popc,
                (_, true) => Reduction::And,
                _ => Reduction::Or,
            };
            Some((how, Place { bank, slot }, predicate, is_negated))
        }
    };
    l.emit(Op::Barrier(Box::new(Barrier {
        number,
        threads,
        waits: !i.has("arrive"),
        is_aligned: i.opcode == "bar" || i.has("aligned"),
        reduction,
    })));
    Ok(())
}
