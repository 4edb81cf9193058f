//! Integer arithmetic.

use crate::exec::lanes::{Plain, run};
use crate::text::ast::Instruction;
use crate::text::types::Type::{self, S16, S32, S64, U16, U32, U64};

/// The instruction as a function of lanes, if it is one of this group.
pub(super) fn find(i: &Instruction) -> Option<Plain> {
    if i.has("u16x2") || i.has("s16x2") {
        return paired(i);
    }
    let kind = i.types().next()?;
    match i.opcode.as_str() {
        "add" | "sub" | "neg" | "abs" | "min" | "max" => sums(i, kind),
        "mul" | "mad" | "mul24" | "mad24" => products(i, kind),
        "div" | "rem" | "sad" => others(i, kind),
        "dp4a" | "dp2a" => dots(i),
        _ => None,
    }
}

fn sums(i: &Instruction, kind: Type) -> Option<Plain> {
    if i.has("cc") {
        return None;
    }
    Some(match (i.opcode.as_str(), kind) {
        ("add", S32) if i.has("sat") => run!(|a: i32, b: i32| -> i32 { a.saturating_add(b) }),
        ("sub", S32) if i.has("sat") => run!(|a: i32, b: i32| -> i32 { a.saturating_sub(b) }),
        ("add", U16 | S16) => run!(|a: u16, b: u16| -> u16 { a.wrapping_add(b) }),
        ("add", U32 | S32) => run!(|a: u32, b: u32| -> u32 { a.wrapping_add(b) }),
        ("add", U64 | S64) => run!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) }),
        ("sub", U16 | S16) => run!(|a: u16, b: u16| -> u16 { a.wrapping_sub(b) }),
        ("sub", U32 | S32) => run!(|a: u32, b: u32| -> u32 { a.wrapping_sub(b) }),
        ("sub", U64 | S64) => run!(|a: u64, b: u64| -> u64 { a.wrapping_sub(b) }),
        ("neg", S16) => run!(|a: i16| -> i16 { a.wrapping_neg() }),
        ("neg", S32) => run!(|a: i32| -> i32 { a.wrapping_neg() }),
        ("neg", S64) => run!(|a: i64| -> i64 { a.wrapping_neg() }),
        ("abs", S16) => run!(|a: i16| -> i16 { a.wrapping_abs() }),
        ("abs", S32) => run!(|a: i32| -> i32 { a.wrapping_abs() }),
        ("abs", S64) => run!(|a: i64| -> i64 { a.wrapping_abs() }),
        ("min", S32) if i.has("relu") => run!(|a: i32, b: i32| -> i32 { a.min(b).max(0) }),
        ("max", S32) if i.has("relu") => run!(|a: i32, b: i32| -> i32 { a.max(b).max(0) }),
        ("min", U16) => run!(|a: u16, b: u16| -> u16 { a.min(b) }),
        ("min", U32) => run!(|a: u32, b: u32| -> u32 { a.min(b) }),
        ("min", U64) => run!(|a: u64, b: u64| -> u64 { a.min(b) }),
        ("min", S16) => run!(|a: i16, b: i16| -> i16 { a.min(b) }),
        ("min", S32) => run!(|a: i32, b: i32| -> i32 { a.min(b) }),
        ("min", S64) => run!(|a: i64, b: i64| -> i64 { a.min(b) }),
        ("max", U16) => run!(|a: u16, b: u16| -> u16 { a.max(b) }),
        ("max", U32) => run!(|a: u32, b: u32| -> u32 { a.max(b) }),
        ("max", U64) => run!(|a: u64, b: u64| -> u64 { a.max(b) }),
        ("max", S16) => run!(|a: i16, b: i16| -> i16 { a.max(b) }),
        ("max", S32) => run!(|a: i32, b: i32| -> i32 { a.max(b) }),
        ("max", S64) => run!(|a: i64, b: i64| -> i64 { a.max(b) }),
        _ => return None,
    })
}

/// Two 16-bit integers in a register.
fn paired(i: &Instruction) -> Option<Plain> {
    let signed = i.has("s16x2");
    Some(match (i.opcode.as_str(), signed) {
        ("add", _) => run!(|a: u32, b: u32| -> u32 { halves(a, b, u16::wrapping_add) }),
        ("min", false) => run!(|a: u32, b: u32| -> u32 { halves(a, b, u16::min) }),
        ("max", false) => run!(|a: u32, b: u32| -> u32 { halves(a, b, u16::max) }),
        ("min", true) => {
            run!(|a: u32, b: u32| -> u32 { halves(a, b, |a, b| (a as i16).min(b as i16) as u16) })
        }
        ("max", true) => {
            run!(|a: u32, b: u32| -> u32 { halves(a, b, |a, b| (a as i16).max(b as i16) as u16) })
        }
        _ => return None,
    })
}

/// A function of each half of two words.
pub(super) fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn products(i: &Instruction, kind: Type) -> Option<Plain> {
    let part = i.modifiers.first()?.as_str();
    Some(match (i.opcode.as_str(), part, kind) {
        ("mul", "lo", U16 | S16) => run!(|a: u16, b: u16| -> u16 { a.wrapping_mul(b) }),
        ("mul", "lo", U32 | S32) => run!(|a: u32, b: u32| -> u32 { a.wrapping_mul(b) }),
        ("mul", "lo", U64 | S64) => run!(|a: u64, b: u64| -> u64 { a.wrapping_mul(b) }),
        ("mul", "hi", U16) => run!(|a: u16, b: u16| -> u16 { hi_u16(a, b) }),
        ("mul", "hi", S16) => run!(|a: i16, b: i16| -> i16 { hi_s16(a, b) }),
        ("mul", "hi", U32) => run!(|a: u32, b: u32| -> u32 { hi_u32(a, b) }),
        ("mul", "hi", S32) => run!(|a: i32, b: i32| -> i32 { hi_s32(a, b) }),
        ("mul", "hi", U64) => run!(|a: u64, b: u64| -> u64 { hi_u64(a, b) }),
        ("mul", "hi", S64) => run!(|a: i64, b: i64| -> i64 { hi_s64(a, b) }),
        ("mul", "wide", U16) => run!(|a: u16, b: u16| -> u32 { u32::from(a) * u32::from(b) }),
        ("mul", "wide", S16) => run!(|a: i16, b: i16| -> i32 { i32::from(a) * i32::from(b) }),
        ("mul", "wide", U32) => run!(|a: u32, b: u32| -> u64 { u64::from(a) * u64::from(b) }),
        ("mul", "wide", S32) => run!(|a: i32, b: i32| -> i64 { i64::from(a) * i64::from(b) }),
        ("mad", "lo", U16 | S16) => {
            run!(|a: u16, b: u16, c: u16| -> u16 { a.wrapping_mul(b).wrapping_add(c) })
        }
        ("mad", "lo", U32 | S32) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { a.wrapping_mul(b).wrapping_add(c) })
        }
        ("mad", "lo", U64 | S64) => {
            run!(|a: u64, b: u64, c: u64| -> u64 { a.wrapping_mul(b).wrapping_add(c) })
        }
        ("mad", "hi", S32) if i.has("sat") => {
            run!(|a: i32, b: i32, c: i32| -> i32 { hi_s32(a, b).saturating_add(c) })
        }
        ("mad", "hi", U16) => {
            run!(|a: u16, b: u16, c: u16| -> u16 { hi_u16(a, b).wrapping_add(c) })
        }
        ("mad", "hi", S16) => {
            run!(|a: i16, b: i16, c: i16| -> i16 { hi_s16(a, b).wrapping_add(c) })
        }
        ("mad", "hi", U32) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { hi_u32(a, b).wrapping_add(c) })
        }
        ("mad", "hi", S32) => {
            run!(|a: i32, b: i32, c: i32| -> i32 { hi_s32(a, b).wrapping_add(c) })
        }
        ("mad", "hi", U64) => {
            run!(|a: u64, b: u64, c: u64| -> u64 { hi_u64(a, b).wrapping_add(c) })
        }
        ("mad", "hi", S64) => {
            run!(|a: i64, b: i64, c: i64| -> i64 { hi_s64(a, b).wrapping_add(c) })
        }
        ("mad", "wide", U16) => {
            run!(|a: u16, b: u16, c: u32| -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) })
        }
        ("mad", "wide", S16) => {
            run!(|a: i16, b: i16, c: i32| -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) })
        }
        ("mad", "wide", U32) => {
            run!(|a: u32, b: u32, c: u64| -> u64 { (u64::from(a) * u64::from(b)).wrapping_add(c) })
        }
        ("mad", "wide", S32) => {
            run!(|a: i32, b: i32, c: i64| -> i64 { (i64::from(a) * i64::from(b)).wrapping_add(c) })
        }
        ("mul24", "lo", U32) => {
            run!(|a: u32, b: u32| -> u32 { (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF) })
        }
        ("mul24", "lo", S32) => run!(|a: i32, b: i32| -> i32 { low24(a).wrapping_mul(low24(b)) }),
        ("mul24", "hi", U32) => run!(|a: u32, b: u32| -> u32 {
            ((u64::from(a & 0xFF_FFFF) * u64::from(b & 0xFF_FFFF)) >> 16) as u32
        }),
        ("mul24", "hi", S32) => run!(|a: i32, b: i32| -> i32 {
            ((i64::from(low24(a)) * i64::from(low24(b))) >> 16) as i32
        }),
        ("mad24", "lo", U32) => run!(|a: u32, b: u32, c: u32| -> u32 {
            (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF).wrapping_add(c)
        }),
        ("mad24", "lo", S32) => run!(|a: i32, b: i32, c: i32| -> i32 {
            low24(a).wrapping_mul(low24(b)).wrapping_add(c)
        }),
        _ => return None,
    })
}

/// The lower 24 bits with their sign.
fn low24(a: i32) -> i32 {
    a << 8 >> 8
}

fn hi_u16(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

fn hi_s16(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b)) >> 16) as i16
}

fn hi_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn hi_s32(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

pub(super) fn hi_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

pub(super) fn hi_s64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

fn others(i: &Instruction, kind: Type) -> Option<Plain> {
    Some(match (i.opcode.as_str(), kind) {
        // A division by zero gives all ones, and its rest the dividend.
        ("div", U16) => run!(|a: u16, b: u16| -> u16 { a.checked_div(b).unwrap_or(!0) }),
        ("div", U32) => run!(|a: u32, b: u32| -> u32 { a.checked_div(b).unwrap_or(!0) }),
        ("div", U64) => run!(|a: u64, b: u64| -> u64 { a.checked_div(b).unwrap_or(!0) }),
        ("div", S16) => {
            run!(|a: i16, b: i16| -> i16 { if b == 0 { -1 } else { a.wrapping_div(b) } })
        }
        ("div", S32) => {
            run!(|a: i32, b: i32| -> i32 { if b == 0 { -1 } else { a.wrapping_div(b) } })
        }
        ("div", S64) => {
            run!(|a: i64, b: i64| -> i64 { if b == 0 { -1 } else { a.wrapping_div(b) } })
        }
        ("rem", U16) => run!(|a: u16, b: u16| -> u16 { a.checked_rem(b).unwrap_or(a) }),
        ("rem", U32) => run!(|a: u32, b: u32| -> u32 { a.checked_rem(b).unwrap_or(a) }),
        ("rem", U64) => run!(|a: u64, b: u64| -> u64 { a.checked_rem(b).unwrap_or(a) }),
        ("rem", S16) => {
            run!(|a: i16, b: i16| -> i16 { if b == 0 { a } else { a.wrapping_rem(b) } })
        }
        ("rem", S32) => {
            run!(|a: i32, b: i32| -> i32 { if b == 0 { a } else { a.wrapping_rem(b) } })
        }
        ("rem", S64) => {
            run!(|a: i64, b: i64| -> i64 { if b == 0 { a } else { a.wrapping_rem(b) } })
        }
        ("sad", U16) => {
            run!(|a: u16, b: u16, c: u16| -> u16 { c.wrapping_add(a.abs_diff(b)) })
        }
        ("sad", U32) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { c.wrapping_add(a.abs_diff(b)) })
        }
        ("sad", U64) => {
            run!(|a: u64, b: u64, c: u64| -> u64 { c.wrapping_add(a.abs_diff(b)) })
        }
        ("sad", S16) => {
            run!(|a: i16, b: i16, c: u16| -> u16 { c.wrapping_add(a.abs_diff(b)) })
        }
        ("sad", S32) => {
            run!(|a: i32, b: i32, c: u32| -> u32 { c.wrapping_add(a.abs_diff(b)) })
        }
        ("sad", S64) => {
            run!(|a: i64, b: i64, c: u64| -> u64 { c.wrapping_add(a.abs_diff(b)) })
        }
        _ => return None,
    })
}

/// Dot products of bytes.
fn dots(i: &Instruction) -> Option<Plain> {
    let mut types = i.types();
    let signs = (types.next()? == S32, types.next()? == S32);
    Some(match (i.opcode.as_str(), signs, i.has("hi")) {
        ("dp4a", (false, false), _) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp4a(a, b, c, byte_u, byte_u) })
        }
        ("dp4a", (false, true), _) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp4a(a, b, c, byte_u, byte_s) })
        }
        ("dp4a", (true, false), _) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp4a(a, b, c, byte_s, byte_u) })
        }
        ("dp4a", (true, true), _) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp4a(a, b, c, byte_s, byte_s) })
        }
        (_, (false, false), false) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b, c, half_u, byte_u) })
        }
        (_, (false, true), false) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b, c, half_u, byte_s) })
        }
        (_, (true, false), false) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b, c, half_s, byte_u) })
        }
        (_, (true, true), false) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b, c, half_s, byte_s) })
        }
        (_, (false, false), true) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b >> 16, c, half_u, byte_u) })
        }
        (_, (false, true), true) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b >> 16, c, half_u, byte_s) })
        }
        (_, (true, false), true) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b >> 16, c, half_s, byte_u) })
        }
        (_, (true, true), true) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { dp2a(a, b >> 16, c, half_s, byte_s) })
        }
    })
}

type Part = fn(u32, u32) -> i32;

fn byte_u(word: u32, n: u32) -> i32 {
    (word >> (8 * n)) as u8 as i32
}

fn byte_s(word: u32, n: u32) -> i32 {
    (word >> (8 * n)) as i8 as i32
}

fn half_u(word: u32, n: u32) -> i32 {
    (word >> (16 * n)) as u16 as i32
}

fn half_s(word: u32, n: u32) -> i32 {
    (word >> (16 * n)) as i16 as i32
}

fn dp4a(a: u32, b: u32, c: u32, of_a: Part, of_b: Part) -> u32 {
    (0..4).fold(c, |sum, n| {
        sum.wrapping_add((of_a(a, n) * of_b(b, n)) as u32)
    })
}

fn dp2a(a: u32, b: u32, c: u32, of_a: Part, of_b: Part) -> u32 {
    (0..2).fold(c, |sum, n| {
        sum.wrapping_add((of_a(a, n) * of_b(b, n)) as u32)
    })
}
