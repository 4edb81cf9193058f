//! Conversions between types.

use super::mode;
use crate::exec::exact::{self, Finite, Format, Mode, Number};
use crate::exec::lanes::{Plain, run};
use crate::text::ast::Instruction;
use crate::text::types::Type::{self, Bf16, F16, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};

/// A conversion, of one or of two values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convert {
    pub(crate) to: Kind,
    pub(crate) from: Kind,
    mode: Mode,
    /// Round to a whole number, in a float.
    is_whole: bool,
    saturates: bool,
    flushes: bool,
    relu: bool,
    is_finite: bool,
    /// The result holds two values: the first operand above the second.
    pub(crate) is_pair: bool,
}

/// What the bits of an operand are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// So many bits, with a sign or without.
    Integer(u32, bool),
    Float(Format, u32),
}

fn kind(of: Type) -> Option<Kind> {
    Some(match of {
        F16 | Type::F16x2 => Kind::Float(exact::F16, 16),
        Bf16 | Type::Bf16x2 => Kind::Float(exact::BF16, 16),
        F32 => Kind::Float(exact::F32, 32),
        F64 => Kind::Float(exact::F64, 64),
        U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => {
            Kind::Integer(of.bytes() * 8, of.is_signed())
        }
        _ => return None,
    })
}

/// The common conversions as functions of lanes.
pub(super) fn find(i: &Instruction) -> Option<Plain> {
    let mut types = i.types();
    let (to, from) = (types.next()?, types.next()?);
    if i.modifiers.len() > 3 || i.has("sat") || i.has("tf32") {
        return None;
    }
    // Only the first modifier can round.
    let rounding = match i.modifiers.len() {
        3 => i.modifiers.first()?.as_str(),
        _ => "",
    };
    Some(match (rounding, to, from) {
        ("", U16 | S16, U32 | S32) => run!(|a: u32| -> u16 { a as u16 }),
        ("", U16 | S16, U64 | S64) => run!(|a: u64| -> u16 { a as u16 }),
        ("", U32 | S32, U64 | S64) => run!(|a: u64| -> u32 { a as u32 }),
        ("", U32 | S32, U32 | S32) => run!(|a: u32| -> u32 { a }),
        ("", U32 | S32, U16) => run!(|a: u16| -> u32 { u32::from(a) }),
        ("", U32 | S32, S16) => run!(|a: i16| -> i32 { i32::from(a) }),
        ("", U64 | S64, U16) => run!(|a: u16| -> u64 { u64::from(a) }),
        ("", U64 | S64, S16) => run!(|a: i16| -> i64 { i64::from(a) }),
        ("", U64 | S64, U32) => run!(|a: u32| -> u64 { u64::from(a) }),
        ("", U64 | S64, S32) => run!(|a: i32| -> i64 { i64::from(a) }),
        ("", U64 | S64, U64 | S64) => run!(|a: u64| -> u64 { a }),
        ("rn", F32, U32) => run!(|a: u32| -> f32 { a as f32 }),
        ("rn", F32, S32) => run!(|a: i32| -> f32 { a as f32 }),
        ("rn", F32, U64) => run!(|a: u64| -> f32 { a as f32 }),
        ("rn", F32, S64) => run!(|a: i64| -> f32 { a as f32 }),
        ("rn" | "", F64, U32) => run!(|a: u32| -> f64 { f64::from(a) }),
        ("rn" | "", F64, S32) => run!(|a: i32| -> f64 { f64::from(a) }),
        ("rn", F64, U64) => run!(|a: u64| -> f64 { a as f64 }),
        ("rn", F64, S64) => run!(|a: i64| -> f64 { a as f64 }),
        ("", F64, F32) => run!(|a: f32| -> f64 { f64::from(a) }),
        ("rn", F32, F64) => run!(|a: f64| -> f32 { a as f32 }),
        ("rzi", S32, F32) => run!(|a: f32| -> i32 { a as i32 }),
        ("rzi", U32, F32) => run!(|a: f32| -> u32 { a as u32 }),
        _ => return None,
    })
}

/// Any other conversion.
pub(super) fn general(i: &Instruction) -> Option<Convert> {
    const KNOWN: [&str; 14] = [
        "rn",
        "rz",
        "rm",
        "rp",
        "rna",
        "rni",
        "rzi",
        "rmi",
        "rpi",
        "ftz",
        "sat",
        "relu",
        "satfinite",
        "tf32",
    ];
    let is_known = |word: &String| KNOWN.contains(&word.as_str()) || Type::of(word).is_some();
    if !i.modifiers.iter().all(is_known) {
        return None;
    }
    let types: Vec<Type> = i.types().collect();
    let (to, from) = match (types.as_slice(), i.has("tf32")) {
        ([F32], true) => (Kind::Float(exact::TF32, 19), Kind::Float(exact::F32, 32)),
        ([to, from], false) => (kind(*to)?, kind(*from)?),
        _ => return None,
    };
    let is_pair = matches!(types.first(), Some(Type::F16x2 | Type::Bf16x2));
    if is_pair && types.get(1) != Some(&F32) {
        return None;
    }
    let is_whole = ["rni", "rzi", "rmi", "rpi"].iter().any(|word| i.has(word));
    Some(Convert {
        to,
        from,
        mode: mode(i),
        is_whole,
        saturates: i.has("sat"),
        flushes: i.has("ftz"),
        relu: i.has("relu"),
        is_finite: i.has("satfinite"),
        is_pair,
    })
}

/// Extends a number of so many bits to 64.
fn extended(bits: u64, width: u32, signed: bool) -> i128 {
    let up = 64 - width.clamp(1, 64);
    match signed {
        true => i128::from((bits << up) as i64 >> up),
        false => i128::from(bits << up >> up),
    }
}

impl Convert {
    /// The converted bits.
    pub(crate) fn apply(&self, bits: u64) -> u64 {
        match (self.from, self.to) {
            (Kind::Integer(from, signed), Kind::Integer(to, to_signed)) => {
                let value = extended(bits, from, signed);
                let value = match self.saturates {
                    true => clamped(value, to, to_signed),
                    false => value,
                };
                extended(value as u64, to, to_signed) as u64
            }
            (Kind::Integer(from, signed), Kind::Float(format, _)) => {
                let value = extended(bits, from, signed);
                let finite = Finite::new(value < 0, value.unsigned_abs(), 0);
                self.finished(format, format.encode(Number::Finite(finite), self.mode))
            }
            (Kind::Float(format, _), Kind::Integer(to, signed)) => {
                let number = format.decode(self.flushed(format, bits));
                let value = exact::to_integer(number, to, signed, self.mode);
                // A NaN is zero, unless either type has 64 bits: then it is only the highest bit.
                let is_wide_nan = to == 64 && number == Number::Nan;
                let is_double = matches!(self.from, Kind::Float(_, 64));
                match is_wide_nan || (number == Number::Nan && is_double) {
                    true => 1 << (to - 1),
                    false => value,
                }
            }
            (Kind::Float(from, _), Kind::Float(to, width)) => self.between(from, to, width, bits),
        }
    }

    fn between(&self, from: Format, to: Format, width: u32, bits: u64) -> u64 {
        let mut number = from.decode(self.flushed(from, bits));
        if self.is_whole {
            number = match number {
                Number::Finite(finite) if finite.exponent < 0 => {
                    let whole = exact::whole(finite, self.mode);
                    Number::Finite(Finite::new(finite.sign, whole, 0))
                }
                other => other,
            };
        }
        let encoded = self.finished(to, to.encode(number, self.mode));
        // tf32 lies in the upper bits of a single.
        if width == 19 { encoded << 13 } else { encoded }
    }

    fn flushed(&self, format: Format, bits: u64) -> u64 {
        match format.decode(bits) {
            Number::Finite(_) if self.flushes => format.without_subnormal(bits),
            _ => bits,
        }
    }

    /// The result after `.ftz`, `.sat`, `.relu` and `.satfinite`.
    fn finished(&self, format: Format, bits: u64) -> u64 {
        let bits = if self.flushes {
            format.without_subnormal(bits)
        } else {
            bits
        };
        let zero = Number::Finite(Finite::new(false, 0, 0));
        let one = Number::Finite(Finite::new(false, 1, 0));
        let number = format.decode(bits);
        let is_negative = match number {
            Number::Finite(finite) => finite.sign,
            Number::Infinite(sign) => sign,
            Number::Nan => false,
        };
        if self.saturates && (is_negative || number == Number::Nan) || self.relu && is_negative {
            return format.encode(zero, Mode::Nearest);
        }
        let one = format.encode(one, Mode::Nearest);
        match number {
            _ if self.saturates && bits > one => one,
            Number::Infinite(_) if self.is_finite => bits - 1,
            _ => bits,
        }
    }
}

fn clamped(value: i128, bits: u32, signed: bool) -> i128 {
    match signed {
        true => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => value.clamp(0, (1 << bits) - 1),
    }
}
