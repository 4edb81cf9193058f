//! Comparisons and choices.

use crate::exec::exact::{self, Mode};
use crate::exec::lanes::{Bf16, F16, Ftz, Plain, Raw32, Raw64, flush, run};
use crate::text::ast::Instruction;
use crate::text::types::Type;

/// The comparison of a `setp` or `set` as a function of lanes.
pub(super) fn find(i: &Instruction, kind: Type) -> Option<Plain> {
    let operator = i.modifiers.first()?.as_str();
    match kind {
        Type::Pred => None,
        // Bits have no order.
        Type::B16 | Type::B32 | Type::B64 if !matches!(operator, "eq" | "ne") => None,
        Type::B16 | Type::U16 => unsigned_16(operator),
        Type::B32 | Type::U32 => unsigned_32(operator),
        Type::B64 | Type::U64 => unsigned_64(operator),
        Type::S16 => signed_16(operator),
        Type::S32 => signed_32(operator),
        Type::S64 => signed_64(operator),
        Type::F32 if i.has("ftz") => flushed_32(operator),
        Type::F32 => float_32(operator),
        Type::F64 => float_64(operator),
        Type::F16 => half(operator),
        Type::Bf16 => brain(operator),
        _ => None,
    }
}

macro_rules! integers {
    ($name:ident, $lane:ty) => {
        fn $name(operator: &str) -> Option<Plain> {
            Some(match operator {
                "eq" => run!(|a: $lane, b: $lane| -> bool { a == b }),
                "ne" => run!(|a: $lane, b: $lane| -> bool { a != b }),
                "lt" | "lo" => run!(|a: $lane, b: $lane| -> bool { a < b }),
                "le" | "ls" => run!(|a: $lane, b: $lane| -> bool { a <= b }),
                "gt" | "hi" => run!(|a: $lane, b: $lane| -> bool { a > b }),
                "ge" | "hs" => run!(|a: $lane, b: $lane| -> bool { a >= b }),
                _ => return None,
            })
        }
    };
}

integers!(unsigned_16, u16);
integers!(unsigned_32, u32);
integers!(unsigned_64, u64);
integers!(signed_16, i16);
integers!(signed_32, i32);
integers!(signed_64, i64);

/// Comparisons of floats. Those that end in `u` hold when either operand is NaN.
macro_rules! floats {
    ($name:ident, $lane:ty, |$value:ident| $get:expr) => {
        fn $name(operator: &str) -> Option<Plain> {
            fn get($value: $lane) -> impl PartialOrd + Copy {
                $get
            }
            fn is_nan(value: impl PartialOrd + Copy) -> bool {
                value.partial_cmp(&value).is_none()
            }
            macro_rules! compared {
                (|$a:ident, $b:ident| $body:expr) => {
                    run!(|a: $lane, b: $lane| -> bool {
                        let ($a, $b) = (get(a), get(b));
                        $body
                    })
                };
            }
            Some(match operator {
                "eq" => compared!(|a, b| a == b),
                "ne" => compared!(|a, b| a != b && !is_nan(a) && !is_nan(b)),
                "lt" => compared!(|a, b| a < b),
                "le" => compared!(|a, b| a <= b),
                "gt" => compared!(|a, b| a > b),
                "ge" => compared!(|a, b| a >= b),
                "equ" => compared!(|a, b| a == b || is_nan(a) || is_nan(b)),
                "neu" => compared!(|a, b| a != b),
                "ltu" => compared!(|a, b| a < b || is_nan(a) || is_nan(b)),
                "leu" => compared!(|a, b| a <= b || is_nan(a) || is_nan(b)),
                "gtu" => compared!(|a, b| a > b || is_nan(a) || is_nan(b)),
                "geu" => compared!(|a, b| a >= b || is_nan(a) || is_nan(b)),
                "num" => compared!(|a, b| !is_nan(a) && !is_nan(b)),
                "nan" => compared!(|a, b| is_nan(a) || is_nan(b)),
                _ => return None,
            })
        }
    };
}

floats!(float_32, f32, |value| value);
floats!(flushed_32, Ftz, |value| flush(value.0));
floats!(float_64, f64, |value| value);
floats!(half, F16, |value| wide(exact::F16, value.0));
floats!(brain, Bf16, |value| wide(exact::BF16, value.0));

fn wide(format: exact::Format, bits: u16) -> f32 {
    f32::from_bits(exact::convert(format, exact::F32, u64::from(bits), Mode::Nearest) as u32)
}

/// `selp`, `slct` and `testp` as functions of lanes.
pub(super) fn choice(i: &Instruction) -> Option<Plain> {
    let mut types = i.types();
    let kind = types.next()?;
    match i.opcode.as_str() {
        "selp" => Some(match kind.bytes() {
            2 => run!(|a: u16, b: u16, c: bool| -> u16 { if c { a } else { b } }),
            4 => run!(|a: u32, b: u32, c: bool| -> u32 { if c { a } else { b } }),
            8 => run!(|a: u64, b: u64, c: bool| -> u64 { if c { a } else { b } }),
            _ => return None,
        })
        .map(|plain| float_immediates(plain, kind)),
        "slct" => slct(i, kind, types.next()?),
        "testp" => testp(i, kind),
        _ => None,
    }
}

/// The same function with float types, so that float constants are taken as such.
fn float_immediates(plain: Plain, kind: Type) -> Plain {
    let types: &'static [Type] = match kind {
        Type::F32 => &[Type::F32, Type::F32, Type::F32, Type::Pred],
        Type::F64 => &[Type::F64, Type::F64, Type::F64, Type::Pred],
        _ => plain.types,
    };
    Plain { types, ..plain }
}

fn slct(i: &Instruction, kind: Type, of: Type) -> Option<Plain> {
    Some(match (kind.bytes(), of) {
        (2, Type::S32) => run!(|a: u16, b: u16, c: i32| -> u16 { if c >= 0 { a } else { b } }),
        (4, Type::S32) => run!(|a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } }),
        (8, Type::S32) => run!(|a: u64, b: u64, c: i32| -> u64 { if c >= 0 { a } else { b } }),
        (2, Type::F32) if i.has("ftz") => {
            run!(|a: u16, b: u16, c: Ftz| -> u16 { if c.0 >= 0.0 { a } else { b } })
        }
        (4, Type::F32) if i.has("ftz") => {
            run!(|a: u32, b: u32, c: Ftz| -> u32 { if c.0 >= 0.0 { a } else { b } })
        }
        (8, Type::F32) if i.has("ftz") => {
            run!(|a: u64, b: u64, c: Ftz| -> u64 { if c.0 >= 0.0 { a } else { b } })
        }
        (2, Type::F32) => run!(|a: u16, b: u16, c: f32| -> u16 { if c >= 0.0 { a } else { b } }),
        (4, Type::F32) => run!(|a: u32, b: u32, c: f32| -> u32 { if c >= 0.0 { a } else { b } }),
        (8, Type::F32) => run!(|a: u64, b: u64, c: f32| -> u64 { if c >= 0.0 { a } else { b } }),
        _ => return None,
    })
}

fn testp(i: &Instruction, kind: Type) -> Option<Plain> {
    let what = i.modifiers.first()?.as_str();
    Some(match (what, kind) {
        ("finite", Type::F32) => run!(|a: Raw32| -> bool { f32::from_bits(a.0).is_finite() }),
        ("infinite", Type::F32) => run!(|a: Raw32| -> bool { f32::from_bits(a.0).is_infinite() }),
        ("number", Type::F32) => run!(|a: Raw32| -> bool { !f32::from_bits(a.0).is_nan() }),
        ("notanumber", Type::F32) => run!(|a: Raw32| -> bool { f32::from_bits(a.0).is_nan() }),
        ("normal", Type::F32) => run!(|a: Raw32| -> bool { f32::from_bits(a.0).is_normal() }),
        ("subnormal", Type::F32) => {
            run!(|a: Raw32| -> bool { f32::from_bits(a.0).is_subnormal() })
        }
        ("finite", Type::F64) => run!(|a: Raw64| -> bool { f64::from_bits(a.0).is_finite() }),
        ("infinite", Type::F64) => run!(|a: Raw64| -> bool { f64::from_bits(a.0).is_infinite() }),
        ("number", Type::F64) => run!(|a: Raw64| -> bool { !f64::from_bits(a.0).is_nan() }),
        ("notanumber", Type::F64) => run!(|a: Raw64| -> bool { f64::from_bits(a.0).is_nan() }),
        ("normal", Type::F64) => run!(|a: Raw64| -> bool { f64::from_bits(a.0).is_normal() }),
        ("subnormal", Type::F64) => {
            run!(|a: Raw64| -> bool { f64::from_bits(a.0).is_subnormal() })
        }
        _ => return None,
    })
}
