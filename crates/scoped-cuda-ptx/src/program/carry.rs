//! Arithmetic of more than one word: instructions that write and read the carry flag.

use super::integer::{hi_s64, hi_u64};
use super::lower::{Lower, Lowered, Trouble};
use super::op::Op;
use crate::exec::lanes::{Args, Lane, Registers, Run, WARP};
use crate::text::ast::Instruction;
use crate::text::types::Type;

/// The predicate that holds the flag.
const FLAG: u32 = 0;

/// A number of which the carry of a sum can be told.
trait Word: Lane {
    fn sum(self, other: Self, carry: bool) -> (Self, bool);
    fn difference(self, other: Self, borrow: bool) -> (Self, bool);
    fn product(self, other: Self, part: Part) -> Self;
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    HighSigned,
}

macro_rules! word {
    ($word:ty, $wide:ty, |$a:ident, $b:ident| $high:expr, $high_signed:expr) => {
        impl Word for $word {
            fn sum(self, other: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(Self::from(carry));
                (sum, first || second)
            }

            fn difference(self, other: Self, borrow: bool) -> (Self, bool) {
                let (difference, first) = self.overflowing_sub(other);
                let (difference, second) = difference.overflowing_sub(Self::from(borrow));
                (difference, first || second)
            }

            fn product(self, other: Self, part: Part) -> Self {
                let ($a, $b) = (self, other);
                match part {
                    Part::Low => $a.wrapping_mul($b),
                    Part::High => $high,
                    Part::HighSigned => $high_signed,
                }
            }
        }
    };
}

word!(
    u32,
    u64,
    |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32,
    ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
);
word!(
    u64,
    u128,
    |a, b| hi_u64(a, b),
    hi_s64(a as i64, b as i64) as u64
);

#[inline(always)]
fn all<W: Word, const READS: bool, const WRITES: bool>(
    r: &mut Registers,
    x: &Args,
    mask: u32,
    f: impl Fn(W, W, W, bool) -> (W, bool),
) {
    let (mut out, mut flags) = (W::blank(), 0);
    let carries = if READS { r.predicate(FLAG) } else { 0 };
    let (a, b, c) = (W::row(r, x.a), W::row(r, x.b), W::row(r, x.c));
    for lane in 0..WARP {
        let carry = carries >> lane & 1 == 1;
        let (value, flag) = f(W::get(a, lane), W::get(b, lane), W::get(c, lane), carry);
        value.put(&mut out, lane);
        flags |= u32::from(flag) << lane;
    }
    W::store(r, x.d, &out, mask);
    if WRITES {
        r.set_predicate(FLAG, flags, mask);
    }
}

/// The four forms of a function: with and without reading, with and without writing the flag.
macro_rules! forms {
    (
        $word:ident,
        $reads:expr,
        $writes:expr,
        |$a:ident, $b:ident, $c:ident, $carry:ident| $body:expr
    ) => {{
        fn run<$word: Word, const READS: bool, const WRITES: bool>(
            r: &mut Registers,
            x: &Args,
            mask: u32,
        ) {
            all::<$word, READS, WRITES>(r, x, mask, |$a, $b, $c, $carry| $body);
        }
        match ($reads, $writes) {
            (false, false) => run::<$word, false, false>,
            (false, true) => run::<$word, false, true>,
            (true, false) => run::<$word, true, false>,
            (true, true) => run::<$word, true, true>,
        }
    }};
}

fn function<W: Word>(i: &Instruction, kind: Type) -> Option<Run> {
    let reads = i.opcode.ends_with('c');
    let writes = i.has("cc");
    let part = match (i.has("hi"), kind.is_signed()) {
        (false, _) => Part::Low,
        (true, false) => Part::High,
        (true, true) => Part::HighSigned,
    };
    let run: Run = match (i.opcode.as_str(), part) {
        ("add" | "addc", _) => forms!(W, reads, writes, |a, b, _c, carry| a.sum(b, carry)),
        ("sub" | "subc", _) => forms!(W, reads, writes, |a, b, _c, carry| a.difference(b, carry)),
        ("mad" | "madc", Part::Low) => {
            forms!(W, reads, writes, |a, b, c, carry| a
                .product(b, Part::Low)
                .sum(c, carry))
        }
        ("mad" | "madc", Part::High) => {
            forms!(W, reads, writes, |a, b, c, carry| a
                .product(b, Part::High)
                .sum(c, carry))
        }
        ("mad" | "madc", Part::HighSigned) => {
            forms!(W, reads, writes, |a, b, c, carry| a
                .product(b, Part::HighSigned)
                .sum(c, carry))
        }
        _ => return None,
    };
    Some(run)
}

/// Lowers `add.cc`, `addc`, `madc.hi.cc` and the others.
pub(super) fn lower(l: &mut Lower<'_>, i: &Instruction) -> Lowered<()> {
    let kind = i.types().next();
    let run = match kind.map(|kind| (kind, kind.bytes())) {
        Some((kind, 4)) => function::<u32>(i, kind),
        Some((kind, 8)) => function::<u64>(i, kind),
        _ => None,
    };
    let (Some(run), Some(kind)) = (run, kind) else {
        return Err(Trouble::NotSimulated);
    };
    let (d, a, b) = (
        l.target(i, 0, kind)?,
        l.source(i, 1, kind)?,
        l.source(i, 2, kind)?,
    );
    let c = match i.opcode.starts_with("mad") {
        true => l.source(i, 3, kind)?,
        false => 0,
    };
    l.emit(Op::Plain(
        run,
        Args {
            d,
            q: 0,
            a,
            b,
            c,
            e: 0,
        },
    ));
    Ok(())
}
