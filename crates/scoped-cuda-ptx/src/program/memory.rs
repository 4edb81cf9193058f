//! Loads, stores, atomics and what else has an address.

use super::lower::{Lower, Lowered, Trouble};
use super::op::{Access, Address, Atomic, Bank, Change, Copy, Mbarrier, Op, Phase, Place};
use super::operands::fits;
use super::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_BYTES, SHARED_WINDOW, Value, WINDOW};
use crate::exec::lanes::{Args, Plain, run};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::{Space, Type};

pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    match i.opcode.as_str() {
        "ld" | "ldu" => access(l, i, true),
        "st" => access(l, i, false),
        "atom" | "red" => atomic(l, i),
        "cvta" => generic(l, i),
        "isspacep" => is_space(l, i),
        "cp" => copy(l, i),
        "mapa" => map(l, i),
        "getctarank" => rank(l, i),
        _ => mbarrier(l, i),
    }
}

/// The space among the modifiers.
fn space(i: &Instruction) -> Space {
    let found = i.modifiers.iter().find_map(|word| Space::of(word));
    found.unwrap_or(Space::Generic)
}

/// The window of generic addresses of a space.
fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        _ => 0,
    }
}

/// `ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`
fn access(l: &mut Lower<'_>, i: &Instruction, is_load: bool) -> Lowered<()> {
    const REFUSED: [&str; 4] = ["async", "b128", "mmio", "bulk"];
    if REFUSED.iter().any(|word| i.has(word)) {
        return Err(Trouble::NotSimulated);
    }
    let Some(kind) = i.types().last() else {
        return l.wrong(i, format!("`{}` needs a type", i.name()));
    };
    let count = match (i.has("v2"), i.has("v4"), i.has("v8")) {
        (true, ..) => 2,
        (_, true, _) => 4,
        (.., true) => 8,
        _ => 1,
    };
    let (data, place) = if is_load { (0, 1) } else { (1, 0) };
    let data = l.operand(i, data)?.clone();
    let operands = match data {
        Operand::Vector(operands) => operands,
        Operand::Name(ref name) if count > 1 => match l.names.find(name) {
            Some(super::names::Name::Vector(..)) => ["x", "y", "z", "w"]
                .iter()
                .take(count)
                .map(|component| Operand::Name(format!("{name}.{component}")))
                .collect(),
            _ => return l.wrong(i, "a vector is expected"),
        },
        single => vec![single],
    };
    if operands.len() != count {
        return l.wrong(i, format!("`{}` takes {count} registers", i.name()));
    }
    let space = space(i);
    if let Some(start) = parameter(l, i).filter(|_| is_load && space == Space::Param) {
        return load_parameter(l, i, kind, &operands, start);
    }
    let mut places = Vec::new();
    for operand in &operands {
        places.push(match operand {
            Operand::Sink => None,
            operand if is_load => Some(l.wide_written(i, operand, kind)?),
            operand => Some(l.wide(i, operand, kind)?),
        });
    }
    let address = l.address(i, place, space)?;
    let is_strong = ["volatile", "relaxed", "acquire", "release"]
        .iter()
        .any(|word| i.has(word));
    let access = Access {
        space,
        address,
        bytes: kind.bytes(),
        signed: kind.is_signed(),
        places,
        is_strong,
        releases: i.has("release"),
    };
    l.emit_access(access, is_load);
    Ok(())
}

/// The place in the kernel's parameters that the second operand names, if it does.
fn parameter(l: &Lower<'_>, i: &Instruction) -> Option<u32> {
    let Some(Operand::Address {
        base: Some(name),
        offset,
        ..
    }) = i.operands.get(1)
    else {
        return None;
    };
    let Some(super::names::Name::Param(start, _)) = l.names.find(name) else {
        return None;
    };
    let place = i64::from(start).checked_add(*offset)?;
    u32::try_from(place)
        .ok()
        .filter(|_| l.is_entry && start < l.formal_bytes)
}

/// A kernel's parameters are the same for all threads: they stand in registers from the start.
fn load_parameter(
    l: &mut Lower<'_>,
    i: &Instruction,
    kind: Type,
    operands: &[Operand],
    start: u32,
) -> Lowered<()> {
    for (operand, start) in operands
        .iter()
        .zip((start..).step_by(kind.bytes() as usize))
    {
        if start.saturating_add(kind.bytes()) > l.formal_bytes {
            return l.wrong(i, "the load goes beyond the parameters");
        }
        let value = Value::Given(start, kind.bytes() as u8, kind.is_signed());
        let bank = match l.bank_of(operand) {
            Some(Bank::Long) => Bank::Long,
            _ => Bank::Word,
        };
        let slot = l.constant(bank, value);
        let is_exact = l.type_of(operand).is_some_and(|found| fits(i, found, kind));
        if *operand == Operand::Sink || is_exact && l.is_alias(operand, Place { bank, slot }) {
            continue;
        }
        let d = l.wide_written(i, operand, kind)?.slot;
        let copy = match bank {
            Bank::Long => run!(|a: u64| -> u64 { a }),
            _ => run!(|a: u32| -> u32 { a }),
        };
        l.emit(Op::Plain(
            copy.run,
            Args {
                d,
                a: slot,
                ..Args::default()
            },
        ));
    }
    Ok(())
}

/// `atom.global.add.u32 %r1, [%rd1], %r2;` and `red`, which has no result.
fn atomic(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    const REFUSED: [&str; 6] = ["v2", "v4", "v8", "b128", "async", "bulk"];
    if REFUSED.iter().any(|word| i.has(word)) {
        return Err(Trouble::NotSimulated);
    }
    let change = i.modifiers.iter().find_map(|word| {
        Some(match word.as_str() {
            "and" => Change::And,
            "or" => Change::Or,
            "xor" => Change::Xor,
            "exch" => Change::Exchange,
            "cas" => Change::Compare,
            "add" => Change::Add,
            "inc" => Change::Increment,
            "dec" => Change::Decrement,
            "min" => Change::Min,
            "max" => Change::Max,
            _ => return None,
        })
    });
    let (Some(change), Some(kind)) = (change, i.types().last()) else {
        return l.wrong(i, format!("`{}` needs an operation and a type", i.name()));
    };
    let Some(bank) = Bank::of(kind) else {
        return Err(Trouble::NotSimulated);
    };
    if !matches!(space(i), Space::Generic | Space::Global | Space::Shared) {
        return l.wrong(i, "an atomic is in global or shared memory");
    }
    let first = usize::from(i.opcode == "atom");
    let old = match (first, i.operands.first()) {
        (1, Some(Operand::Sink)) | (0, _) => None,
        _ => Some(Place {
            bank,
            slot: l.target(i, 0, kind)?,
        }),
    };
    let address = l.address(i, first, space(i))?;
    let value = Place {
        bank,
        slot: l.source(i, first + 1, kind)?,
    };
    let second = match change {
        Change::Compare => Some(Place {
            bank,
            slot: l.source(i, first + 2, kind)?,
        }),
        _ => None,
    };
    let has = |word: &str| i.has(word);
    l.emit(Op::Atomic(Box::new(Atomic {
        space: space(i),
        address,
        change,
        kind,
        old,
        value,
        second,
        // A sum of singles in global memory flushes subnormals; one in shared memory does not.
        flushes: kind == Type::F32 && change == Change::Add,
        releases: has("release") || has("acq_rel"),
    })));
    Ok(())
}

/// `cvta.to.global.u64 %rd1, %rd2;`
fn generic(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let Some(kind) = i.types().last() else {
        return l.wrong(i, "`cvta` needs a type");
    };
    if kind.bytes() != 8 {
        return l.wrong(i, "addresses have 64 bits");
    }
    let a = l.source(i, 1, kind)?;
    let by = window(space(i));
    let by = if i.has("to") { by.wrapping_neg() } else { by };
    if by == 0 {
        let from = Place {
            bank: Bank::Long,
            slot: a,
        };
        let to = l.operand(i, 0)?.clone();
        if l.is_alias(&to, from) {
            return Ok(());
        }
        let d = l.target(i, 0, kind)?;
        let copy = run!(|a: u64| -> u64 { a });
        l.emit(Op::Plain(
            copy.run,
            Args {
                d,
                a,
                ..Args::default()
            },
        ));
        return Ok(());
    }
    let d = l.target(i, 0, kind)?;
    let b = l.constant(Bank::Long, Value::Bits(by));
    let shift = run!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) });
    l.emit(Op::Plain(
        shift.run,
        Args {
            d,
            a,
            b,
            ..Args::default()
        },
    ));
    Ok(())
}

/// `isspacep.shared %p1, %rd1;`
fn is_space(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let d = l.target(i, 0, Type::Pred)?;
    let a = l.source(i, 1, Type::U64)?;
    if let space @ (Space::Const | Space::Global) = space(i) {
        l.emit(Op::IsConstant(d, a, space == Space::Const));
        return Ok(());
    }
    let test: Plain = match (space(i), i.has("shared::cluster")) {
        (Space::Shared, true) => run!(|a: u64| -> bool { a & WINDOW == SHARED_WINDOW }),
        (Space::Shared, false) => {
            run!(|a: u64| -> bool { a & WINDOW == SHARED_WINDOW && (a & !WINDOW) < SHARED_BYTES })
        }
        (Space::Local, _) => run!(|a: u64| -> bool { a & WINDOW == LOCAL_WINDOW }),
        (Space::Param, _) => run!(|a: u64| -> bool { a & WINDOW == PARAM_WINDOW }),
        _ => return Err(Trouble::NotSimulated),
    };
    l.emit(Op::Plain(
        test.run,
        Args {
            d,
            a,
            ..Args::default()
        },
    ));
    Ok(())
}

/// `cp.async.ca.shared.global [%r1], [%rd1], 16;`
fn copy(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let has = |word: &str| i.has(word);
    if has("bulk") || has("reduce") {
        return Err(Trouble::NotSimulated);
    }
    if has("mbarrier") {
        return arrive_of_copies(l, i);
    }
    if has("commit_group") || has("wait_group") || has("wait_all") {
        return Ok(());
    }
    let to = l.address(i, 0, Space::Shared)?;
    let from = l.address(i, 1, Space::Global)?;
    let bytes = match l.operand(i, 2)? {
        Operand::Integer(bytes @ (4 | 8 | 16)) => *bytes as u32,
        _ => return l.wrong(i, "4, 8 or 16 bytes are copied"),
    };
    let (mut given, mut ignored) = (None, None);
    match i.operands.get(3).cloned() {
        Some(Operand::Name(name)) => match l.register(&name) {
            Some((place, Type::Pred)) => ignored = Some(place.slot),
            Some((place, _)) if place.bank == Bank::Word => given = Some(place),
            _ => {}
        },
        Some(Operand::Integer(bytes)) => {
            let slot = l.constant(Bank::Word, Value::Bits(bytes));
            given = Some(Place {
                bank: Bank::Word,
                slot,
            });
        }
        Some(_) => return Err(Trouble::NotSimulated),
        None => {}
    }
    l.emit(Op::Copy(Box::new(Copy {
        to,
        from,
        bytes,
        given,
        ignored,
    })));
    Ok(())
}

fn arrive_of_copies(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let address = l.address(i, 0, Space::Shared)?;
    l.emit(Op::Mbarrier(Box::new(Mbarrier {
        phase: Phase::CopyArrive {
            increments: !i.has("noinc"),
        },
        to: None,
        space: Space::Shared,
        address,
        value: None,
    })));
    Ok(())
}

/// `mapa.shared::cluster.u32 %r1, %r2, %r3;`: the place in another block of the cluster.
fn map(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let Some(kind) = i.types().last() else {
        return l.wrong(i, "`mapa` needs a type");
    };
    let (d, a, b) = (
        l.target(i, 0, kind)?,
        l.source(i, 1, kind)?,
        l.source(i, 2, Type::U32)?,
    );
    let mapped = match (kind.bytes(), space(i)) {
        (4, Space::Shared) => {
            run!(|a: u32, b: u32| -> u32 { a & 0xFF_FFFF | b.wrapping_add(1) << 24 })
        }
        (8, Space::Shared) => {
            run!(|a: u64, b: u32| -> u64 { a & 0xFF_FFFF | u64::from(b.wrapping_add(1)) << 24 })
        }
        (8, _) => run!(|a: u64, b: u32| -> u64 {
            SHARED_WINDOW | a & 0xFF_FFFF | u64::from(b.wrapping_add(1)) << 24
        }),
        _ => return Err(Trouble::NotSimulated),
    };
    l.emit(Op::Plain(
        mapped.run,
        Args {
            d,
            a,
            b,
            ..Args::default()
        },
    ));
    Ok(())
}

fn rank(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let Some(kind) = i.types().last() else {
        return l.wrong(i, "`getctarank` needs a type");
    };
    let bank = if kind.bytes() == 8 {
        Bank::Long
    } else {
        Bank::Word
    };
    let to = Place {
        bank: Bank::Word,
        slot: l.target(i, 0, Type::U32)?,
    };
    let from = Place {
        bank,
        slot: l.source(i, 1, kind)?,
    };
    l.emit(Op::Rank(to, from));
    Ok(())
}

/// `mbarrier.arrive.shared.b64 %rd1, [%rd2];`
fn mbarrier(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let has = |word: &str| i.has(word);
    let phase = match i.modifiers.first().map_or("", String::as_str) {
        "init" => Phase::Init,
        "inval" => Phase::Invalidate,
        "arrive" => Phase::Arrive,
        "arrive_drop" => Phase::ArriveDrop,
        "test_wait" | "try_wait" if has("parity") => Phase::TestParity,
        "test_wait" | "try_wait" => Phase::TestState,
        "pending_count" => Phase::Pending,
        "expect_tx" | "complete_tx" => return Err(Trouble::NotSimulated),
        _ => return l.wrong(i, "`mbarrier` does not know the operation"),
    };
    if has("expect_tx") {
        return Err(Trouble::NotSimulated);
    }
    let long = |slot| Place {
        bank: Bank::Long,
        slot,
    };
    let word = |slot| Place {
        bank: Bank::Word,
        slot,
    };
    let (mut to, mut value) = (None, None);
    let none = Address {
        base: None,
        offset: 0,
    };
    let mut address = none;
    match phase {
        Phase::Init => {
            address = l.address(i, 0, space(i))?;
            value = Some(word(l.source(i, 1, Type::U32)?));
        }
        Phase::Invalidate => address = l.address(i, 0, space(i))?,
        Phase::Pending => {
            to = Some(word(l.target(i, 0, Type::U32)?));
            value = Some(long(l.source(i, 1, Type::B64)?));
        }
        Phase::TestState | Phase::TestParity => {
            let slot = l.target(i, 0, Type::Pred)?;
            to = Some(Place {
                bank: Bank::Predicate,
                slot,
            });
            address = l.address(i, 1, space(i))?;
            value = Some(match phase {
                Phase::TestState => long(l.source(i, 2, Type::B64)?),
                _ => word(l.source(i, 2, Type::U32)?),
            });
        }
        _ => {
            if *l.operand(i, 0)? != Operand::Sink {
                to = Some(long(l.target(i, 0, Type::B64)?));
            }
            address = l.address(i, 1, space(i))?;
            if i.operands.len() > 2 {
                value = Some(word(l.source(i, 2, Type::U32)?));
            }
        }
    }
    l.emit(Op::Mbarrier(Box::new(Mbarrier {
        phase,
        to,
        space: space(i),
        address,
        value,
    })));
    Ok(())
}
