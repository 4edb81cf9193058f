//! Which instruction is lowered where.

use super::lower::{Lower, Lowered, Trouble};
use super::op::{Bank, Op, Place};
use super::operands::fits;
use super::special::CLOCKS;
use super::{
    bits, carry, compare, control, convert, float, grammar, half, integer, memory, sync, warp,
};
use crate::exec::lanes::{Args, Plain, run};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::Type;

/// Opcodes that are read but not executed.
const NOT_SIMULATED: [&str; 43] = [
    "alloca",
    "applypriority",
    "clusterlaunchcontrol",
    "createpolicy",
    "discard",
    "fns",
    "istypep",
    "ldmatrix",
    "ldu",
    "mma",
    "movmatrix",
    "multimem",
    "pmevent",
    "setmaxnreg",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "suld",
    "suq",
    "sured",
    "sust",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmin",
    "vset",
    "vshl",
    "vshr",
    "vsub",
    "wgmma",
    "wmma",
];

/// Lowers an instruction to steps.
pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    if !grammar::admits(i) {
        return l.wrong(
            i,
            format!("the modifiers of `{}` do not fit together", i.name()),
        );
    }
    match i.opcode.as_str() {
        "mov" => mov(l, i),
        "cvt" => conversion(l, i),
        "setp" => setp(l, i),
        "set" => set(l, i),
        "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "cp" | "mapa"
        | "getctarank" | "mbarrier" => memory::lower(l, i),
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => control::lower(l, i),
        "bar" | "barrier" | "fence" | "membar" | "nanosleep" => sync::lower(l, i),
        "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => warp::lower(l, i),
        // Hints, and orders to parts that are not simulated because nothing depends on them.
        "prefetch" | "prefetchu" | "discard" | "applypriority" | "griddepcontrol" | "pmevent"
        | "setmaxnreg" | "createpolicy" => nothing(l, i),
        "lop3" if i.has("BoolOp") || i.types().count() != 1 => Err(Trouble::NotSimulated),
        _ => plain(l, i),
    }
}

fn nothing(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    if i.opcode == "createpolicy" {
        let d = l.target(i, 0, Type::B64)?;
        let zero = l.constant(Bank::Long, super::Value::Bits(0));
        let copy = run!(|a: u64| -> u64 { a });
        l.emit(Op::Plain(
            copy.run,
            Args {
                d,
                a: zero,
                ..Args::default()
            },
        ));
    }
    Ok(())
}

fn plain(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    if i.has("cc") || matches!(i.opcode.as_str(), "addc" | "subc" | "madc") {
        return carry::lower(l, i);
    }
    let found = find(i);
    match found {
        Some(plain) => l.plain(i, plain),
        None if is_known(&i.opcode) => Err(Trouble::NotSimulated),
        None => l.wrong(i, format!("there is no instruction `{}`", i.opcode)),
    }
}

fn find(i: &Instruction) -> Option<Plain> {
    integer::find(i)
        .or_else(|| bits::find(i))
        .or_else(|| float::find(i))
        .or_else(|| half::find(i))
        .or_else(|| compare::choice(i))
}

fn is_known(opcode: &str) -> bool {
    const PLAIN: [&str; 51] = [
        "abs", "add", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "copysign",
        "cos", "div", "dp2a", "dp4a", "ex2", "fma", "lg2", "lop3", "mad", "mad24", "max", "min",
        "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad", "selp",
        "shf", "shl", "shr", "sin", "slct", "sqrt", "sub", "szext", "tanh", "testp", "xor", "fns",
        "vote", "redux", "tcgen05", "st",
    ];
    PLAIN.contains(&opcode) || NOT_SIMULATED.contains(&opcode)
}

fn mov(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let Some(kind) = i.types().next() else {
        return l.wrong(i, "`mov` needs a type");
    };
    match (l.operand(i, 0)?.clone(), l.operand(i, 1)?.clone()) {
        (Operand::Vector(parts), whole) => return unpack(l, i, kind, &parts, &whole),
        (_, Operand::Vector(parts)) => return pack(l, i, kind, &parts),
        (_, Operand::Name(name)) if CLOCKS.contains(&name.as_str()) => {
            let slot = l.target(i, 0, kind)?;
            let bank = if kind.bytes() == 8 {
                Bank::Long
            } else {
                Bank::Word
            };
            l.emit(Op::Clock(Place { bank, slot }));
            return Ok(());
        }
        _ => {}
    }
    let copy = match (kind, kind.bytes()) {
        (Type::Pred, _) => run!(|a: bool| -> bool { a }),
        (_, 1 | 2) => run!(|a: u16| -> u16 { a }),
        (_, 4) => run!(|a: u32| -> u32 { a }),
        (_, 8) => run!(|a: u64| -> u64 { a }),
        _ => return Err(Trouble::NotSimulated),
    };
    if i.operands.len() != 2 {
        return l.wrong(i, "`mov` takes two operands");
    }
    let a = match l.operand(i, 1)?.clone() {
        operand @ Operand::Not(_) => l.predicate(i, &operand)?,
        _ => l.source(i, 1, kind)?,
    };
    let to = l.operand(i, 0)?.clone();
    let bank = Bank::of(kind).unwrap_or(Bank::Word);
    let is_exact = l.type_of(&to).is_some_and(|found| fits(i, found, kind));
    if is_exact && l.bank_of(&to) == Some(bank) && l.is_alias(&to, Place { bank, slot: a }) {
        return Ok(());
    }
    let d = l.target(i, 0, kind)?;
    l.emit(Op::Plain(
        copy.run,
        Args {
            d,
            a,
            ..Args::default()
        },
    ));
    Ok(())
}

/// The type of a part when a whole is cut into so many.
fn part(kind: Type, parts: usize) -> Option<Type> {
    match (kind.bytes(), parts) {
        (4, 2) | (8, 4) => Some(Type::B16),
        (8, 2) => Some(Type::B32),
        (2, 2) | (4, 4) => Some(Type::B8),
        _ => None,
    }
}

/// `mov.b64 {%r1, %r2}, %rd1`
fn unpack(
    l: &mut Lower<'_>,
    i: &Instruction,
    kind: Type,
    parts: &[Operand],
    whole: &Operand,
) -> Lowered<()> {
    let Some(piece) = part(kind, parts.len()) else {
        return Err(Trouble::NotSimulated);
    };
    let whole = l.value(i, whole, kind)?;
    let a = match whole.bank {
        Bank::Long => whole.slot,
        _ => l.widened(whole.slot),
    };
    for (n, operand) in parts.iter().enumerate() {
        if *operand == Operand::Sink {
            continue;
        }
        let to = l.wide(i, operand, piece)?;
        let shift = u64::from(piece.bytes()) * 8 * n as u64;
        let b = l.constant(Bank::Word, super::Value::Bits(shift));
        let cut = match piece {
            Type::B8 => run!(|a: u64, b: u32| -> u8 { (a >> b) as u8 }),
            Type::B16 => run!(|a: u64, b: u32| -> u16 { (a >> b) as u16 }),
            _ => run!(|a: u64, b: u32| -> u32 { (a >> b) as u32 }),
        };
        l.emit(Op::Plain(
            cut.run,
            Args {
                d: to.slot,
                a,
                b,
                ..Args::default()
            },
        ));
    }
    Ok(())
}

/// `mov.b64 %rd1, {%r1, %r2}`
fn pack(l: &mut Lower<'_>, i: &Instruction, kind: Type, parts: &[Operand]) -> Lowered<()> {
    let Some(piece) = part(kind, parts.len()) else {
        return Err(Trouble::NotSimulated);
    };
    let d = l.target(i, 0, kind)?;
    let mut slots = Vec::new();
    for operand in parts {
        slots.push(l.wide(i, operand, piece)?.slot);
    }
    let join = match (kind.bytes(), slots.len()) {
        (2, _) => run!(|a: u8, b: u8| -> u16 { u16::from(a) | u16::from(b) << 8 }),
        (4, 2) => run!(|a: u16, b: u16| -> u32 { u32::from(a) | u32::from(b) << 16 }),
        (4, _) => run!(|a: u8, b: u8, c: u8, e: u8| -> u32 { u32::from_le_bytes([a, b, c, e]) }),
        (_, 2) => run!(|a: u32, b: u32| -> u64 { u64::from(a) | u64::from(b) << 32 }),
        _ => run!(|a: u16, b: u16, c: u16, e: u16| -> u64 {
            u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(e) << 48
        }),
    };
    let slot = |n: usize| slots.get(n).copied().unwrap_or(0);
    let (a, b, c, e) = (slot(0), slot(1), slot(2), slot(3));
    l.emit(Op::Plain(
        join.run,
        Args {
            d,
            q: 0,
            a,
            b,
            c,
            e,
        },
    ));
    Ok(())
}

fn conversion(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    if i.has("pack") {
        return Err(Trouble::NotSimulated);
    }
    let types: Vec<Type> = i.types().collect();
    if let (Some(plain), [to, from]) = (convert::find(i), types.as_slice()) {
        let d = l.wide_target(i, 0, *to)?;
        let a = l.operand(i, 1)?.clone();
        let a = l.wide(i, &a, *from)?;
        // A register may be wider than the type. Then the general form is used.
        let same = |place: Place, kind: Type| Bank::of(kind) == Some(place.bank);
        if same(d, *to) && same(a, *from) && to.bytes() != 1 {
            l.emit(Op::Plain(
                plain.run,
                Args {
                    d: d.slot,
                    a: a.slot,
                    ..Args::default()
                },
            ));
            return Ok(());
        }
    }
    let Some(convert) = convert::general(i) else {
        return Err(Trouble::NotSimulated);
    };
    let (to, from) = match types.as_slice() {
        [to, from] => (*to, *from),
        [only] => (Type::B32, *only),
        _ => return Err(Trouble::NotSimulated),
    };
    let to = l.wide_target(i, 0, to)?;
    let first = l.operand(i, 1)?.clone();
    let first = l.wide(i, &first, from)?;
    let second = match convert.is_pair {
        true => l.source(i, 2, from)?,
        false => 0,
    };
    l.emit(Op::Convert(
        Box::new(convert),
        Args {
            d: to.slot,
            q: u32::from(to.bank == Bank::Long),
            a: first.slot,
            b: second,
            c: u32::from(first.bank == Bank::Long),
            e: 0,
        },
    ));
    Ok(())
}

/// `setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3`
fn setp(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let Some(kind) = i.types().last() else {
        return l.wrong(i, "`setp` needs a type");
    };
    if matches!(kind, Type::F16x2 | Type::Bf16x2) {
        return setp_halves(l, i, kind);
    }
    let (yes, no) = match l.operand(i, 0)?.clone() {
        Operand::Pair(yes, no) => {
            let yes = if yes == "_" {
                Operand::Sink
            } else {
                Operand::Name(yes)
            };
            let no = if no == "_" {
                Operand::Sink
            } else {
                Operand::Name(no)
            };
            (
                l.written(i, &yes, Type::Pred)?,
                Some(l.written(i, &no, Type::Pred)?),
            )
        }
        operand => (l.written(i, &operand, Type::Pred)?, None),
    };
    let combined = combination(i);
    if combined.is_none() && no.is_none() {
        return comparison(l, i, kind, yes, 1);
    }
    let truth = l.fresh(Bank::Predicate);
    comparison(l, i, kind, truth, 1)?;
    let third = match combined {
        Some(_) => {
            let operand = l.operand(i, 3)?.clone();
            l.predicate(i, &operand)?
        }
        None => 0,
    };
    if let Some(no) = no {
        let false_ = l.fresh(Bank::Predicate);
        let not = run!(|a: bool| -> bool { !a });
        l.emit(Op::Plain(
            not.run,
            Args {
                d: false_,
                a: truth,
                ..Args::default()
            },
        ));
        combine(l, combined, no, false_, third);
    }
    combine(l, combined, yes, truth, third);
    Ok(())
}

/// The word that says how a comparison is combined with a predicate.
fn combination(i: &Instruction) -> Option<&str> {
    let words = i.modifiers.iter().skip(1).map(String::as_str);
    words
        .into_iter()
        .find(|word| matches!(*word, "and" | "or" | "xor"))
}

fn combine(l: &mut Lower<'_>, how: Option<&str>, d: u32, a: u32, b: u32) {
    let join = match how {
        Some("and") => run!(|a: bool, b: bool| -> bool { a & b }),
        Some("or") => run!(|a: bool, b: bool| -> bool { a | b }),
        Some(_) => run!(|a: bool, b: bool| -> bool { a ^ b }),
        None => run!(|a: bool| -> bool { a }),
    };
    l.emit(Op::Plain(
        join.run,
        Args {
            d,
            a,
            b,
            ..Args::default()
        },
    ));
}

/// Compares operand `first` with the next one.
fn comparison(l: &mut Lower<'_>, i: &Instruction, kind: Type, d: u32, first: usize) -> Lowered<()> {
    let Some(plain) = compare::find(i, kind) else {
        return l.wrong(i, format!("`{}` does not compare", i.name()));
    };
    let a = l.source(i, first, kind)?;
    let b = l.source(i, first + 1, kind)?;
    l.emit(Op::Plain(
        plain.run,
        Args {
            d,
            a,
            b,
            ..Args::default()
        },
    ));
    Ok(())
}

/// `set.lt.u32.f32 %r1, %f1, %f2`
fn set(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let types: Vec<Type> = i.types().collect();
    let [to, from] = types.as_slice() else {
        return l.wrong(i, "`set` needs two types");
    };
    if matches!(from, Type::F16x2 | Type::Bf16x2) {
        return set_halves(l, i, *to, *from);
    }
    let one = match to {
        Type::F32 => 0x3F80_0000,
        Type::U32 | Type::S32 => 0xFFFF_FFFF,
        Type::U16 | Type::S16 => 0xFFFF,
        Type::F16 => 0x3C00,
        Type::Bf16 => 0x3F80,
        _ => return Err(Trouble::NotSimulated),
    };
    let truth = l.fresh(Bank::Predicate);
    comparison(l, i, *from, truth, 1)?;
    let combined = combination(i);
    if combined.is_some() {
        let operand = l.operand(i, 3)?.clone();
        let third = l.predicate(i, &operand)?;
        combine(l, combined, truth, truth, third);
    }
    let d = l.target(i, 0, *to)?;
    let a = l.constant(Bank::Word, super::Value::Bits(one));
    let b = l.constant(Bank::Word, super::Value::Bits(0));
    let choose = run!(|a: u32, b: u32, c: bool| -> u32 { if c { a } else { b } });
    l.emit(Op::Plain(
        choose.run,
        Args {
            d,
            a,
            b,
            c: truth,
            ..Args::default()
        },
    ));
    Ok(())
}

/// Compares each half: two predicates.
fn compared_halves(l: &mut Lower<'_>, i: &Instruction, kind: Type) -> Lowered<[u32; 2]> {
    let of = if kind == Type::F16x2 {
        Type::F16
    } else {
        Type::Bf16
    };
    let Some(plain) = compare::find(i, of) else {
        return Err(Trouble::NotSimulated);
    };
    let (a, b) = (l.source(i, 1, kind)?, l.source(i, 2, kind)?);
    let mut truths = [l.fresh(Bank::Predicate), l.fresh(Bank::Predicate)];
    let upper = run!(|a: u32| -> u32 { a >> 16 });
    let (high_a, high_b) = (l.fresh(Bank::Word), l.fresh(Bank::Word));
    for (d, a) in [(high_a, a), (high_b, b)] {
        l.emit(Op::Plain(
            upper.run,
            Args {
                d,
                a,
                ..Args::default()
            },
        ));
    }
    for (d, a, b) in [(truths[0], a, b), (truths[1], high_a, high_b)] {
        l.emit(Op::Plain(
            plain.run,
            Args {
                d,
                a,
                b,
                ..Args::default()
            },
        ));
    }
    if let Some(how) = combination(i) {
        let operand = l.operand(i, 3)?.clone();
        let third = l.predicate(i, &operand)?;
        for truth in &mut truths {
            combine(l, Some(how), *truth, *truth, third);
        }
    }
    Ok(truths)
}

/// `setp.lt.f16x2 %p1|%p2, %r1, %r2`: a predicate for each half.
fn setp_halves(l: &mut Lower<'_>, i: &Instruction, kind: Type) -> Lowered<()> {
    let Operand::Pair(low, high) = l.operand(i, 0)?.clone() else {
        return l.wrong(i, "two predicates are expected");
    };
    let truths = compared_halves(l, i, kind)?;
    for (name, a) in [low, high].into_iter().zip(truths) {
        let operand = if name == "_" {
            Operand::Sink
        } else {
            Operand::Name(name)
        };
        let d = l.written(i, &operand, Type::Pred)?;
        combine(l, None, d, a, a);
    }
    Ok(())
}

/// `set.lt.f16x2.f16x2 %r1, %r2, %r3`: one or zero, or all bits or none, in each half.
fn set_halves(l: &mut Lower<'_>, i: &Instruction, to: Type, from: Type) -> Lowered<()> {
    let one = match to {
        Type::F16x2 => 0x3C00,
        Type::Bf16x2 => 0x3F80,
        Type::U32 | Type::S32 => 0xFFFF,
        _ => return Err(Trouble::NotSimulated),
    };
    let [low, high] = compared_halves(l, i, from)?;
    let d = l.target(i, 0, to)?;
    let a = l.constant(Bank::Word, super::Value::Bits(one));
    let join =
        run!(|a: u32, b: bool, c: bool| -> u32 { (a * u32::from(b)) | ((a * u32::from(c)) << 16) });
    l.emit(Op::Plain(
        join.run,
        Args {
            d,
            a,
            b: low,
            c: high,
            ..Args::default()
        },
    ));
    Ok(())
}
