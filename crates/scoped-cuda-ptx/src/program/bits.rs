//! Logic, shifts, and instructions that look into the bits of an integer.

use crate::exec::lanes::{Plain, run};
use crate::text::ast::Instruction;
use crate::text::types::Type::{self, B16, B32, B64, Pred, S16, S32, S64, U16, U32, U64};

/// The instruction as a function of lanes, if it is one of this group.
pub(super) fn find(i: &Instruction) -> Option<Plain> {
    let kind = i.types().next()?;
    logic(i, kind)
        .or_else(|| shifts(i, kind))
        .or_else(|| fields(i, kind))
}

fn logic(i: &Instruction, kind: Type) -> Option<Plain> {
    Some(match (i.opcode.as_str(), kind) {
        ("and", Pred) => run!(|a: bool, b: bool| -> bool { a & b }),
        ("or", Pred) => run!(|a: bool, b: bool| -> bool { a | b }),
        ("xor", Pred) => run!(|a: bool, b: bool| -> bool { a ^ b }),
        ("not", Pred) => run!(|a: bool| -> bool { !a }),
        ("and", B16) => run!(|a: u16, b: u16| -> u16 { a & b }),
        ("and", B32) => run!(|a: u32, b: u32| -> u32 { a & b }),
        ("and", B64) => run!(|a: u64, b: u64| -> u64 { a & b }),
        ("or", B16) => run!(|a: u16, b: u16| -> u16 { a | b }),
        ("or", B32) => run!(|a: u32, b: u32| -> u32 { a | b }),
        ("or", B64) => run!(|a: u64, b: u64| -> u64 { a | b }),
        ("xor", B16) => run!(|a: u16, b: u16| -> u16 { a ^ b }),
        ("xor", B32) => run!(|a: u32, b: u32| -> u32 { a ^ b }),
        ("xor", B64) => run!(|a: u64, b: u64| -> u64 { a ^ b }),
        ("not", B16) => run!(|a: u16| -> u16 { !a }),
        ("not", B32) => run!(|a: u32| -> u32 { !a }),
        ("not", B64) => run!(|a: u64| -> u64 { !a }),
        ("cnot", B16) => run!(|a: u16| -> u16 { u16::from(a == 0) }),
        ("cnot", B32) => run!(|a: u32| -> u32 { u32::from(a == 0) }),
        ("cnot", B64) => run!(|a: u64| -> u64 { u64::from(a == 0) }),
        ("lop3", B32) => {
            run!(|a: u32, b: u32, c: u32, table: u32| -> u32 { lop3(a, b, c, table) })
        }
        _ => return None,
    })
}

/// Each bit of the result is looked up in the table with the bits of the three words.
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for row in 0..8 {
        let pick = |word: u32, bit: u32| if row >> bit & 1 == 1 { word } else { !word };
        let is_set = 0u32.wrapping_sub(table >> row & 1);
        result |= pick(a, 2) & pick(b, 1) & pick(c, 0) & is_set;
    }
    result
}

fn shifts(i: &Instruction, kind: Type) -> Option<Plain> {
    let wraps = i.has("wrap");
    Some(match (i.opcode.as_str(), kind) {
        ("shl", B16) => {
            run!(|a: u16, b: u32| -> u16 { u32::from(a).checked_shl(b).unwrap_or(0) as u16 })
        }
        ("shl", B32) => run!(|a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a << b } }),
        ("shl", B64) => run!(|a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a << b } }),
        ("shr", B16 | U16) => run!(|a: u16, b: u32| -> u16 { a >> b.min(15) >> u32::from(b > 15) }),
        ("shr", B32 | U32) => run!(|a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a >> b } }),
        ("shr", B64 | U64) => run!(|a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a >> b } }),
        ("shr", S16) => run!(|a: i16, b: u32| -> i16 { a >> b.min(15) }),
        ("shr", S32) => run!(|a: i32, b: u32| -> i32 { a >> b.min(31) }),
        ("shr", S64) => run!(|a: i64, b: u32| -> i64 { a >> b.min(63) }),
        ("shf", B32) if i.has("l") && wraps => {
            run!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) << (c & 31) >> 32) as u32 })
        }
        ("shf", B32) if i.has("l") => {
            run!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) << c.min(32) >> 32) as u32 })
        }
        ("shf", B32) if wraps => {
            run!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) >> (c & 31)) as u32 })
        }
        ("shf", B32) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) >> c.min(32)) as u32 })
        }
        _ => return None,
    })
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn fields(i: &Instruction, kind: Type) -> Option<Plain> {
    let shift = i.has("shiftamt");
    Some(match (i.opcode.as_str(), kind) {
        ("popc", B32) => run!(|a: u32| -> u32 { a.count_ones() }),
        ("popc", B64) => run!(|a: u64| -> u32 { a.count_ones() }),
        ("clz", B32) => run!(|a: u32| -> u32 { a.leading_zeros() }),
        ("clz", B64) => run!(|a: u64| -> u32 { a.leading_zeros() }),
        ("brev", B32) => run!(|a: u32| -> u32 { a.reverse_bits() }),
        ("brev", B64) => run!(|a: u64| -> u64 { a.reverse_bits() }),
        ("bfind", U32) if shift => run!(|a: u32| -> u32 { find_32(a, true) }),
        ("bfind", U64) if shift => run!(|a: u64| -> u32 { find_64(a, true) }),
        ("bfind", S32) if shift => run!(|a: i32| -> u32 { find_32((a ^ a >> 31) as u32, true) }),
        ("bfind", S64) if shift => run!(|a: i64| -> u32 { find_64((a ^ a >> 63) as u64, true) }),
        ("bfind", U32) => run!(|a: u32| -> u32 { find_32(a, false) }),
        ("bfind", U64) => run!(|a: u64| -> u32 { find_64(a, false) }),
        ("bfind", S32) => run!(|a: i32| -> u32 { find_32((a ^ a >> 31) as u32, false) }),
        ("bfind", S64) => run!(|a: i64| -> u32 { find_64((a ^ a >> 63) as u64, false) }),
        ("bfe", U32) => {
            run!(|a: u32, b: u32, c: u32| -> u32 { field(i128::from(a), b, c, 32, false) as u32 })
        }
        ("bfe", S32) => {
            run!(|a: i32, b: u32, c: u32| -> u32 { field(i128::from(a), b, c, 32, true) as u32 })
        }
        ("bfe", U64) => {
            run!(|a: u64, b: u32, c: u32| -> u64 { field(i128::from(a), b, c, 64, false) })
        }
        ("bfe", S64) => {
            run!(|a: i64, b: u32, c: u32| -> u64 { field(i128::from(a), b, c, 64, true) })
        }
        ("bfi", B32) => run!(|a: u32, b: u32, c: u32, e: u32| -> u32 {
            insert(u64::from(a), u64::from(b), c, e, 32) as u32
        }),
        ("bfi", B64) => run!(|a: u64, b: u64, c: u32, e: u32| -> u64 { insert(a, b, c, e, 64) }),
        ("bmsk", B32) if i.has("wrap") => {
            run!(|a: u32, b: u32| -> u32 { (ones(b & 31) << (a & 31)) as u32 })
        }
        ("bmsk", B32) => run!(|a: u32, b: u32| -> u32 { (ones(b.min(32)) << a.min(32)) as u32 }),
        ("szext", U32) => {
            run!(|a: u32, b: u32| -> u32 { extend(a, clamp(b)) as u32 & ones(clamp(b)) as u32 })
        }
        ("szext", S32) => run!(|a: u32, b: u32| -> u32 { extend(a, clamp(b)) as u32 }),
        ("fns", B32) => run!(|a: u32, b: u32, c: i32| -> u32 { nth_set(a, b, c) }),
        ("prmt", B32) => return permute(i),
        _ => return None,
    })
}

fn clamp(b: u32) -> u32 {
    b.min(32)
}

fn ones(count: u32) -> u64 {
    (1u64 << count.min(63)) - 1
}

fn extend(a: u32, bits: u32) -> i32 {
    match bits {
        0 => 0,
        _ => (a as i32) << (32 - bits.min(32)) >> (32 - bits.min(32)),
    }
}

/// The place of the highest set bit, or how far it is from the top.
fn find_32(a: u32, is_distance: bool) -> u32 {
    match (a, is_distance) {
        (0, _) => !0,
        (_, true) => a.leading_zeros(),
        (_, false) => 31 - a.leading_zeros(),
    }
}

fn find_64(a: u64, is_distance: bool) -> u32 {
    match (a, is_distance) {
        (0, _) => !0,
        (_, true) => a.leading_zeros(),
        (_, false) => 63 - a.leading_zeros(),
    }
}

/// Bits from a place on, filled up with their sign. What lies above the word is its sign too.
fn field(a: i128, place: u32, length: u32, bits: u32, signed: bool) -> u64 {
    let (place, length) = (place & 0xFF, length & 0xFF);
    if length == 0 {
        return 0;
    }
    let taken = a >> place.min(127);
    if length >= bits {
        return taken as u64;
    }
    let low = (taken as u64) & ((1u64 << length) - 1);
    let top = (place + length - 1).min(bits - 1);
    let is_negative = signed && a >> top & 1 == 1;
    if is_negative {
        low_filled(a, place, length, bits)
    } else {
        low
    }
}

fn low_filled(a: i128, place: u32, length: u32, bits: u32) -> u64 {
    let available = length.min(bits.saturating_sub(place));
    let taken = (a >> place.min(127)) as u64;
    match available {
        0 => !0,
        64 => taken,
        _ => taken & ((1u64 << available) - 1) | !((1u64 << available) - 1),
    }
}

fn insert(a: u64, b: u64, place: u32, length: u32, bits: u32) -> u64 {
    let (place, length) = (place & 0xFF, (length & 0xFF).min(bits));
    if place >= bits {
        return b;
    }
    let mask = if length >= 64 {
        !0
    } else {
        (1u64 << length) - 1
    } << place;
    b & !mask | a << place & mask
}

/// The place of the n-th set bit from a start, upwards or downwards.
fn nth_set(word: u32, start: u32, nth: i32) -> u32 {
    let start = start & 31;
    if nth == 0 {
        return if word >> start & 1 == 1 { start } else { !0 };
    }
    let mut left = nth.unsigned_abs();
    let mut place = start as i32;
    while (0..32).contains(&place) {
        if word >> place & 1 == 1 {
            left -= 1;
            if left == 0 {
                return place as u32;
            }
        }
        place += nth.signum();
    }
    !0
}

fn permute(i: &Instruction) -> Option<Plain> {
    let mode = i.modifiers.get(1).map_or("", String::as_str);
    Some(match mode {
        "" => run!(|a: u32, b: u32, c: u32| -> u32 { chosen(a, b, c) }),
        "f4e" => run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |n| (c & 3) + n) }),
        "b4e" => {
            run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |n| ((c & 3) + 8 - n) & 7) })
        }
        "rc8" => run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |_| c & 3) }),
        "ecl" => run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |n| n.max(c & 3)) }),
        "ecr" => run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |n| n.min(c & 3)) }),
        "rc16" => {
            run!(|a: u32, b: u32, c: u32| -> u32 { bytes(pair(a, b), |n| (c & 1) * 2 + (n & 1)) })
        }
        _ => return None,
    })
}

fn bytes(from: u64, place: impl Fn(u32) -> u32) -> u32 {
    (0..4).fold(0, |to, n| {
        to | u32::from((from >> (8 * (place(n) & 7))) as u8) << (8 * n)
    })
}

/// Four bytes, each chosen by three bits; a fourth bit asks for copies of the byte's sign.
fn chosen(a: u32, b: u32, c: u32) -> u32 {
    let from = pair(a, b);
    (0..4).fold(0, |to, n| {
        let choice = c >> (4 * n) & 0xF;
        let byte = (from >> (8 * (choice & 7))) as u8;
        let byte = if choice & 8 == 0 {
            byte
        } else {
            (byte as i8 >> 7) as u8
        };
        to | u32::from(byte) << (8 * n)
    })
}
