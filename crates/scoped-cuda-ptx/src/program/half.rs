//! Arithmetic on halves and bfloat16, one or two in a register.

use super::integer::halves;
use crate::exec::exact::{self, Format, Mode};
use crate::exec::lanes::{Bf16, Bf16x2, F16, F16x2, Plain, run};
use crate::text::ast::Instruction;
use crate::text::types::Type;

/// A format as a type, so that a function of lanes can name it.
trait Half {
    const FORMAT: Format;
    const NAN: u16 = 0x7FFF;
    /// The bits of the exponent.
    const EXPONENT: u16;
    const ONE: u16;

    fn wide(bits: u16) -> f32 {
        f32::from_bits(
            exact::convert(Self::FORMAT, exact::F32, u64::from(bits), Mode::Nearest) as u32,
        )
    }

    fn narrow(value: f32) -> u16 {
        let bits = u64::from(value.to_bits());
        exact::convert(exact::F32, Self::FORMAT, bits, Mode::Nearest) as u16
    }

    fn is_nan(bits: u16) -> bool {
        bits & 0x7FFF > Self::EXPONENT
    }
}

struct Binary16;
struct Brain16;

impl Half for Binary16 {
    const FORMAT: Format = exact::F16;
    const EXPONENT: u16 = 0x7C00;
    const ONE: u16 = 0x3C00;
}

impl Half for Brain16 {
    const FORMAT: Format = exact::BF16;
    const EXPONENT: u16 = 0x7F80;
    const ONE: u16 = 0x3F80;
}

/// What is done to the operands and to the result.
#[derive(Clone, Copy)]
enum Finish {
    Plain,
    Ftz,
    Sat,
    FtzSat,
    Relu,
}

fn before<H: Half>(bits: u16, finish: Finish) -> u16 {
    let flush = matches!(finish, Finish::Ftz | Finish::FtzSat) && bits & H::EXPONENT == 0;
    if flush { bits & 0x8000 } else { bits }
}

fn after<H: Half>(bits: u16, finish: Finish) -> u16 {
    let bits = before::<H>(bits, finish);
    match finish {
        Finish::Plain | Finish::Ftz => bits,
        Finish::Sat | Finish::FtzSat if H::is_nan(bits) || bits & 0x8000 != 0 => 0,
        Finish::Sat | Finish::FtzSat => bits.min(H::ONE),
        Finish::Relu if !H::is_nan(bits) && bits & 0x8000 != 0 => 0,
        Finish::Relu => bits,
    }
}

/// A sum, difference or product: a single is wide enough for one rounding after it.
fn through_single<H: Half>(a: u16, b: u16, f: impl Fn(f32, f32) -> f32) -> u16 {
    H::narrow(f(H::wide(a), H::wide(b)))
}

fn fma<H: Half>(a: u16, b: u16, c: u16) -> u16 {
    let [a, b, c] = [a, b, c].map(u64::from);
    exact::fma(H::FORMAT, a, b, c, Mode::Nearest) as u16
}

/// The smaller one; a NaN gives way to a number, unless NaN was asked for.
fn minimum<H: Half>(a: u16, b: u16, keep_nan: bool) -> u16 {
    match (H::is_nan(a), H::is_nan(b)) {
        (true, true) => H::NAN,
        (true, false) | (false, true) if keep_nan => H::NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let key = |bits: u16| {
                if bits & 0x8000 != 0 {
                    !bits
                } else {
                    bits | 0x8000
                }
            };
            if key(a) <= key(b) { a } else { b }
        }
    }
}

fn maximum<H: Half>(a: u16, b: u16, keep_nan: bool) -> u16 {
    let smaller = minimum::<H>(a ^ 0x8000, b ^ 0x8000, keep_nan);
    if H::is_nan(smaller) {
        H::NAN
    } else {
        smaller ^ 0x8000
    }
}

fn with_sign(value: u16, a: u16, b: u16) -> u16 {
    value & 0x7FFF | (a ^ b) & 0x8000
}

fn function<H: Half>(a: u16, f: impl Fn(f64) -> f64) -> u16 {
    let wide = exact::convert(H::FORMAT, exact::F64, u64::from(a), Mode::Nearest);
    let value = f(f64::from_bits(wide)).to_bits();
    exact::convert(exact::F64, H::FORMAT, value, Mode::Nearest) as u16
}

/// The four types with a function of one, two or three halves.
macro_rules! all_types {
    ($kind:expr, $finish:expr, |$H:ident, $a:ident| $body:expr) => {
        match $kind {
            Type::F16 => run!(|a: F16| -> F16 {
                type $H = Binary16;
                let $a = before::<$H>(a.0, $finish);
                F16(after::<$H>($body, $finish))
            }),
            Type::Bf16 => run!(|a: Bf16| -> Bf16 {
                type $H = Brain16;
                let $a = before::<$H>(a.0, $finish);
                Bf16(after::<$H>($body, $finish))
            }),
            Type::F16x2 => run!(|a: F16x2| -> F16x2 {
                type $H = Binary16;
                F16x2(halves(a.0, 0, |a, _| {
                    let $a = before::<$H>(a, $finish);
                    after::<$H>($body, $finish)
                }))
            }),
            _ => run!(|a: Bf16x2| -> Bf16x2 {
                type $H = Brain16;
                Bf16x2(halves(a.0, 0, |a, _| {
                    let $a = before::<$H>(a, $finish);
                    after::<$H>($body, $finish)
                }))
            }),
        }
    };
    ($kind:expr, $finish:expr, |$H:ident, $a:ident, $b:ident| $body:expr) => {
        match $kind {
            Type::F16 => run!(|a: F16, b: F16| -> F16 {
                type $H = Binary16;
                let ($a, $b) = (before::<$H>(a.0, $finish), before::<$H>(b.0, $finish));
                F16(after::<$H>($body, $finish))
            }),
            Type::Bf16 => run!(|a: Bf16, b: Bf16| -> Bf16 {
                type $H = Brain16;
                let ($a, $b) = (before::<$H>(a.0, $finish), before::<$H>(b.0, $finish));
                Bf16(after::<$H>($body, $finish))
            }),
            Type::F16x2 => run!(|a: F16x2, b: F16x2| -> F16x2 {
                type $H = Binary16;
                F16x2(halves(a.0, b.0, |a, b| {
                    let ($a, $b) = (before::<$H>(a, $finish), before::<$H>(b, $finish));
                    after::<$H>($body, $finish)
                }))
            }),
            _ => run!(|a: Bf16x2, b: Bf16x2| -> Bf16x2 {
                type $H = Brain16;
                Bf16x2(halves(a.0, b.0, |a, b| {
                    let ($a, $b) = (before::<$H>(a, $finish), before::<$H>(b, $finish));
                    after::<$H>($body, $finish)
                }))
            }),
        }
    };
    ($kind:expr, $finish:expr, |$H:ident, $a:ident, $b:ident, $c:ident| $body:expr) => {
        match $kind {
            Type::F16 => run!(|a: F16, b: F16, c: F16| -> F16 {
                type $H = Binary16;
                let ($a, $b, $c) = (
                    before::<$H>(a.0, $finish),
                    before::<$H>(b.0, $finish),
                    before::<$H>(c.0, $finish),
                );
                F16(after::<$H>($body, $finish))
            }),
            Type::Bf16 => run!(|a: Bf16, b: Bf16, c: Bf16| -> Bf16 {
                type $H = Brain16;
                let ($a, $b, $c) = (
                    before::<$H>(a.0, $finish),
                    before::<$H>(b.0, $finish),
                    before::<$H>(c.0, $finish),
                );
                Bf16(after::<$H>($body, $finish))
            }),
            Type::F16x2 => run!(|a: F16x2, b: F16x2, c: F16x2| -> F16x2 {
                F16x2(three::<Binary16>(a.0, b.0, c.0, $finish))
            }),
            _ => run!(|a: Bf16x2, b: Bf16x2, c: Bf16x2| -> Bf16x2 {
                Bf16x2(three::<Brain16>(a.0, b.0, c.0, $finish))
            }),
        }
    };
}

fn three<H: Half>(a: u32, b: u32, c: u32, finish: Finish) -> u32 {
    let one = |shift: u32| {
        let [a, b, c] = [a, b, c].map(|word| before::<H>((word >> shift) as u16, finish));
        u32::from(after::<H>(fma::<H>(a, b, c), finish)) << shift
    };
    one(0) | one(16)
}

/// The same function with each way to finish.
macro_rules! finished {
    ($i:expr, $kind:expr, |$($name:ident),*| $body:expr) => {
        match ($i.has("ftz"), $i.has("sat"), $i.has("relu")) {
            (_, _, true) => all_types!($kind, Finish::Relu, |$($name),*| $body),
            (false, false, _) => all_types!($kind, Finish::Plain, |$($name),*| $body),
            (true, false, _) => all_types!($kind, Finish::Ftz, |$($name),*| $body),
            (false, true, _) => all_types!($kind, Finish::Sat, |$($name),*| $body),
            (true, true, _) => all_types!($kind, Finish::FtzSat, |$($name),*| $body),
        }
    };
}

/// The instruction as a function of lanes, if it is one of this group.
pub(super) fn find(i: &Instruction) -> Option<Plain> {
    let kind = i.types().next()?;
    if !matches!(kind, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) {
        return None;
    }
    Some(match i.opcode.as_str() {
        "add" => finished!(i, kind, |H, a, b| through_single::<H>(a, b, |a, b| a + b)),
        "sub" => finished!(i, kind, |H, a, b| through_single::<H>(a, b, |a, b| a - b)),
        "mul" => finished!(i, kind, |H, a, b| through_single::<H>(a, b, |a, b| a * b)),
        "fma" => finished!(i, kind, |H, a, b, c| fma::<H>(a, b, c)),
        "neg" => all_types!(kind, Finish::Plain, |H, a| {
            let _: Option<H>;
            a ^ 0x8000
        }),
        "abs" => all_types!(kind, Finish::Plain, |H, a| {
            let _: Option<H>;
            a & 0x7FFF
        }),
        "min" | "max" => return extreme(i, kind),
        "ex2" => finished!(i, kind, |H, a| function::<H>(a, f64::exp2)),
        "tanh" => finished!(i, kind, |H, a| function::<H>(a, f64::tanh)),
        _ => return None,
    })
}

fn extreme(i: &Instruction, kind: Type) -> Option<Plain> {
    Some(match (i.opcode.as_str(), i.has("NaN"), i.has("xorsign")) {
        ("min", false, false) => finished!(i, kind, |H, a, b| minimum::<H>(a, b, false)),
        ("min", true, false) => finished!(i, kind, |H, a, b| minimum::<H>(a, b, true)),
        ("max", false, false) => finished!(i, kind, |H, a, b| maximum::<H>(a, b, false)),
        ("max", true, false) => finished!(i, kind, |H, a, b| maximum::<H>(a, b, true)),
        ("min", false, true) => finished!(i, kind, |H, a, b| {
            with_sign(minimum::<H>(a & 0x7FFF, b & 0x7FFF, false), a, b)
        }),
        ("max", false, true) => finished!(i, kind, |H, a, b| {
            with_sign(maximum::<H>(a & 0x7FFF, b & 0x7FFF, false), a, b)
        }),
        _ => return None,
    })
}
