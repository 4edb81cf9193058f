//! Arithmetic on singles and doubles.

use super::mode;
use crate::exec::exact::{self, Mode};
use crate::exec::lanes::{Ftz, Plain, Raw32, Raw64, run};
use crate::text::ast::Instruction;
use crate::text::types::Type::{F32, F64};

/// An instruction on singles, in the forms that `.ftz` and `.sat` ask for.
macro_rules! single {
    ($i:expr, |$a:ident| $body:expr) => {
        match ($i.has("ftz"), $i.has("sat")) {
            (false, false) => run!(|$a: f32| -> f32 { $body }),
            (false, true) => run!(|$a: f32| -> f32 { saturated($body) }),
            (true, false) => run!(|$a: Ftz| -> Ftz {
                let $a = $a.0;
                Ftz($body)
            }),
            (true, true) => run!(|$a: Ftz| -> Ftz {
                let $a = $a.0;
                Ftz(saturated($body))
            }),
        }
    };
    ($i:expr, |$a:ident, $b:ident| $body:expr) => {
        match ($i.has("ftz"), $i.has("sat")) {
            (false, false) => run!(|$a: f32, $b: f32| -> f32 { $body }),
            (false, true) => run!(|$a: f32, $b: f32| -> f32 { saturated($body) }),
            (true, false) => run!(|$a: Ftz, $b: Ftz| -> Ftz {
                let ($a, $b) = ($a.0, $b.0);
                Ftz($body)
            }),
            (true, true) => run!(|$a: Ftz, $b: Ftz| -> Ftz {
                let ($a, $b) = ($a.0, $b.0);
                Ftz(saturated($body))
            }),
        }
    };
    ($i:expr, |$a:ident, $b:ident, $c:ident| $body:expr) => {
        match ($i.has("ftz"), $i.has("sat")) {
            (false, false) => run!(|$a: f32, $b: f32, $c: f32| -> f32 { $body }),
            (false, true) => run!(|$a: f32, $b: f32, $c: f32| -> f32 { saturated($body) }),
            (true, false) => run!(|$a: Ftz, $b: Ftz, $c: Ftz| -> Ftz {
                let ($a, $b, $c) = ($a.0, $b.0, $c.0);
                Ftz($body)
            }),
            (true, true) => run!(|$a: Ftz, $b: Ftz, $c: Ftz| -> Ftz {
                let ($a, $b, $c) = ($a.0, $b.0, $c.0);
                Ftz(saturated($body))
            }),
        }
    };
}

/// The three directed forms of a function that takes a mode last.
macro_rules! directed {
    ($i:expr, |$a:ident, $mode:ident| $body:expr) => {
        match mode($i) {
            Mode::Zero => single!($i, |$a| {
                let $mode = Mode::Zero;
                $body
            }),
            Mode::Down => single!($i, |$a| {
                let $mode = Mode::Down;
                $body
            }),
            _ => single!($i, |$a| {
                let $mode = Mode::Up;
                $body
            }),
        }
    };
    ($i:expr, |$a:ident, $b:ident, $mode:ident| $body:expr) => {
        match mode($i) {
            Mode::Zero => single!($i, |$a, $b| {
                let $mode = Mode::Zero;
                $body
            }),
            Mode::Down => single!($i, |$a, $b| {
                let $mode = Mode::Down;
                $body
            }),
            _ => single!($i, |$a, $b| {
                let $mode = Mode::Up;
                $body
            }),
        }
    };
    ($i:expr, |$a:ident, $b:ident, $c:ident, $mode:ident| $body:expr) => {
        match mode($i) {
            Mode::Zero => single!($i, |$a, $b, $c| {
                let $mode = Mode::Zero;
                $body
            }),
            Mode::Down => single!($i, |$a, $b, $c| {
                let $mode = Mode::Down;
                $body
            }),
            _ => single!($i, |$a, $b, $c| {
                let $mode = Mode::Up;
                $body
            }),
        }
    };
}

/// The instruction as a function of lanes, if it is one of this group.
pub(super) fn find(i: &Instruction) -> Option<Plain> {
    match i.types().next()? {
        F32 => arithmetic_32(i).or_else(|| functions_32(i)),
        F64 => arithmetic_64(i).or_else(|| functions_64(i)),
        _ => None,
    }
}

fn arithmetic_32(i: &Instruction) -> Option<Plain> {
    // `fma.rn.f32` with inputs of other types is another instruction.
    if i.types().count() > 1 {
        return mixed(i);
    }
    let nearest = mode(i) == Mode::Nearest;
    Some(match (i.opcode.as_str(), nearest) {
        ("add", true) => single!(i, |a, b| a + b),
        ("sub", true) => single!(i, |a, b| a - b),
        ("mul", true) => single!(i, |a, b| a * b),
        ("fma" | "mad", true) if !i.has("ftz") && !i.has("sat") => fused(),
        ("fma" | "mad", true) => single!(i, |a, b, c| a.mul_add(b, c)),
        ("add", false) => directed!(i, |a, b, m| of2(exact::add, a, b, m)),
        ("sub", false) => directed!(i, |a, b, m| of2(exact::add, a, -b, m)),
        ("mul", false) => directed!(i, |a, b, m| of2(exact::mul, a, b, m)),
        ("fma" | "mad", false) => directed!(i, |a, b, c, m| of3(a, b, c, m)),
        ("min", _) if i.has("NaN") => signed_min(i, true)?,
        ("max", _) if i.has("NaN") => signed_min(i, false)?,
        ("min", _) if i.has("xorsign") => {
            single!(i, |a, b| with_sign(minimum(a.abs(), b.abs()), a, b))
        }
        ("max", _) if i.has("xorsign") => {
            single!(i, |a, b| with_sign(maximum(a.abs(), b.abs()), a, b))
        }
        ("min", _) => single!(i, |a, b| minimum(a, b)),
        ("max", _) => single!(i, |a, b| maximum(a, b)),
        ("neg", _) if i.has("ftz") => single!(i, |a| -a),
        ("abs", _) if i.has("ftz") => single!(i, |a| a.abs()),
        ("neg", _) => run!(|a: Raw32| -> Raw32 { Raw32(a.0 ^ 0x8000_0000) }),
        ("abs", _) => run!(|a: Raw32| -> Raw32 { Raw32(a.0 & 0x7FFF_FFFF) }),
        ("copysign", _) => {
            run!(|a: Raw32, b: Raw32| -> Raw32 { Raw32(a.0 & 0x8000_0000 | b.0 & 0x7FFF_FFFF) })
        }
        _ => return None,
    })
}

/// `fma.rn.f32` by the machine's own instruction where it has one.
fn fused() -> Plain {
    Plain {
        run: crate::exec::fused::run,
        types: &[F32, F32, F32, F32],
    }
}

fn mixed(_: &Instruction) -> Option<Plain> {
    None
}

fn signed_min(i: &Instruction, is_min: bool) -> Option<Plain> {
    Some(match (is_min, i.has("xorsign")) {
        (true, false) => single!(i, |a, b| or_nan(minimum(a, b), a, b)),
        (false, false) => single!(i, |a, b| or_nan(maximum(a, b), a, b)),
        (true, true) => {
            single!(i, |a, b| or_nan(
                with_sign(minimum(a.abs(), b.abs()), a, b),
                a,
                b
            ))
        }
        (false, true) => {
            single!(i, |a, b| or_nan(
                with_sign(maximum(a.abs(), b.abs()), a, b),
                a,
                b
            ))
        }
    })
}

fn functions_32(i: &Instruction) -> Option<Plain> {
    let approximate = i.has("approx") || i.has("full");
    let nearest = mode(i) == Mode::Nearest;
    Some(match (i.opcode.as_str(), approximate, nearest) {
        ("div", false, true) => single!(i, |a, b| a / b),
        ("div", false, false) => directed!(i, |a, b, m| of2(exact::div, a, b, m)),
        ("div", true, _) if i.has("full") => single!(i, |a, b| a / b),
        ("div", true, _) => single!(i, |a, b| divided(a, b)),
        ("rcp", false, true) => single!(i, |a| 1.0 / a),
        ("rcp", false, false) => directed!(i, |a, m| of2(exact::div, 1.0, a, m)),
        ("rcp", true, _) => single!(i, |a| 1.0 / a),
        ("sqrt", false, false) => directed!(i, |a, m| root(a, m)),
        ("sqrt", ..) => single!(i, |a| a.sqrt()),
        ("rsqrt", ..) => single!(i, |a| (1.0 / f64::from(a).sqrt()) as f32),
        ("sin", ..) => single!(i, |a| f64::from(a).sin() as f32),
        ("cos", ..) => single!(i, |a| f64::from(a).cos() as f32),
        ("lg2", ..) => single!(i, |a| f64::from(a).log2() as f32),
        ("ex2", ..) => single!(i, |a| f64::from(a).exp2() as f32),
        ("tanh", ..) => single!(i, |a| f64::from(a).tanh() as f32),
        _ => return None,
    })
}

/// `div.approx` gives zero for divisors near the end of the range.
fn divided(a: f32, b: f32) -> f32 {
    if b.abs() > 8.507_059e37 && b.is_finite() && !a.is_nan() {
        return if a.is_infinite() {
            f32::NAN
        } else {
            0f32.copysign(a) * 1f32.copysign(b)
        };
    }
    a / b
}

fn of2(f: fn(exact::Format, u64, u64, Mode) -> u64, a: f32, b: f32, mode: Mode) -> f32 {
    let bits = f(
        exact::F32,
        u64::from(a.to_bits()),
        u64::from(b.to_bits()),
        mode,
    );
    f32::from_bits(bits as u32)
}

fn of3(a: f32, b: f32, c: f32, mode: Mode) -> f32 {
    let [a, b, c] = [a, b, c].map(|value| u64::from(value.to_bits()));
    f32::from_bits(exact::fma(exact::F32, a, b, c, mode) as u32)
}

fn root(a: f32, mode: Mode) -> f32 {
    f32::from_bits(exact::sqrt(exact::F32, u64::from(a.to_bits()), mode) as u32)
}

/// Between zero and one; NaN is zero.
pub(super) fn saturated(value: f32) -> f32 {
    if value > 0.0 {
        if value < 1.0 { value } else { 1.0 }
    } else {
        0.0
    }
}

/// The smaller one. A NaN gives way to a number, and -0 is smaller than +0.
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { b } else { a };
    }
    if a == b {
        return f32::from_bits(a.to_bits() | b.to_bits());
    }
    if a < b { a } else { b }
}

/// The larger one, likewise.
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { b } else { a };
    }
    if a == b {
        return f32::from_bits(a.to_bits() & b.to_bits());
    }
    if a > b { a } else { b }
}

fn or_nan(value: f32, a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        value
    }
}

fn with_sign(value: f32, a: f32, b: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    f32::from_bits(value.to_bits() & 0x7FFF_FFFF | sign)
}

/// An instruction on doubles in three directed forms.
macro_rules! directed_64 {
    ($i:expr, |$a:ident $(, $b:ident)*; $mode:ident| $body:expr) => {
        match mode($i) {
            Mode::Zero => run!(|$a: Raw64 $(, $b: Raw64)*| -> Raw64 {
                let $mode = Mode::Zero;
                Raw64($body)
            }),
            Mode::Down => run!(|$a: Raw64 $(, $b: Raw64)*| -> Raw64 {
                let $mode = Mode::Down;
                Raw64($body)
            }),
            _ => run!(|$a: Raw64 $(, $b: Raw64)*| -> Raw64 {
                let $mode = Mode::Up;
                Raw64($body)
            }),
        }
    };
}

fn arithmetic_64(i: &Instruction) -> Option<Plain> {
    let nearest = mode(i) == Mode::Nearest;
    const X: exact::Format = exact::F64;
    Some(match (i.opcode.as_str(), nearest) {
        ("add", true) => run!(|a: f64, b: f64| -> f64 { a + b }),
        ("sub", true) => run!(|a: f64, b: f64| -> f64 { a - b }),
        ("mul", true) => run!(|a: f64, b: f64| -> f64 { a * b }),
        ("fma" | "mad", true) => run!(|a: f64, b: f64, c: f64| -> f64 { a.mul_add(b, c) }),
        ("add", false) => directed_64!(i, |a, b; m| exact::add(X, a.0, b.0, m)),
        ("sub", false) => directed_64!(i, |a, b; m| exact::add(X, a.0, b.0 ^ 1 << 63, m)),
        ("mul", false) => directed_64!(i, |a, b; m| exact::mul(X, a.0, b.0, m)),
        ("fma" | "mad", false) => directed_64!(i, |a, b, c; m| exact::fma(X, a.0, b.0, c.0, m)),
        ("min", _) => run!(|a: f64, b: f64| -> f64 { minimum_64(a, b) }),
        ("max", _) => run!(|a: f64, b: f64| -> f64 { -minimum_64(-a, -b) }),
        ("neg", _) => run!(|a: Raw64| -> Raw64 { Raw64(a.0 ^ 1 << 63) }),
        ("abs", _) => run!(|a: Raw64| -> Raw64 { Raw64(a.0 & !(1 << 63)) }),
        ("copysign", _) => {
            run!(|a: Raw64, b: Raw64| -> Raw64 { Raw64(a.0 & 1 << 63 | b.0 & !(1 << 63)) })
        }
        _ => return None,
    })
}

fn minimum_64(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { b } else { a };
    }
    if a == b {
        return f64::from_bits(a.to_bits() | b.to_bits());
    }
    if a < b { a } else { b }
}

fn functions_64(i: &Instruction) -> Option<Plain> {
    let approximate = i.has("approx");
    let nearest = mode(i) == Mode::Nearest;
    const X: exact::Format = exact::F64;
    const ONE: u64 = 0x3FF0_0000_0000_0000;
    Some(match (i.opcode.as_str(), nearest) {
        ("div", true) => run!(|a: f64, b: f64| -> f64 { a / b }),
        ("div", false) => directed_64!(i, |a, b; m| exact::div(X, a.0, b.0, m)),
        // The lower half of an approximation is zero.
        ("rcp", _) if approximate => run!(|a: f64| -> f64 { coarse(1.0 / flushed(a)) }),
        ("rsqrt", _) if i.has("ftz") => run!(|a: f64| -> f64 { coarse(1.0 / flushed(a).sqrt()) }),
        ("rsqrt", _) => run!(|a: f64| -> f64 { coarse(1.0 / a.sqrt()) }),
        ("rcp", true) => run!(|a: f64| -> f64 { 1.0 / a }),
        ("rcp", false) => directed_64!(i, |a; m| exact::div(X, ONE, a.0, m)),
        ("sqrt", true) => run!(|a: f64| -> f64 { a.sqrt() }),
        ("sqrt", false) => directed_64!(i, |a; m| exact::sqrt(X, a.0, m)),
        _ => return None,
    })
}

fn flushed(a: f64) -> f64 {
    if a.is_subnormal() {
        0f64.copysign(a)
    } else {
        a
    }
}

/// A double of which only the upper half is given.
fn coarse(a: f64) -> f64 {
    match a.is_nan() {
        true => a,
        false => flushed(f64::from_bits(a.to_bits() & !0xFFFF_FFFF)),
    }
}
