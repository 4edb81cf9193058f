//! `printf` as kernels know it.

use super::call::Reader;

/// A conversion of a format: its flags, width and precision, and its letter.
#[derive(Default)]
struct Conversion {
    is_left: bool,
    has_plus: bool,
    has_space: bool,
    has_zeros: bool,
    is_alternate: bool,
    width: usize,
    precision: Option<usize>,
    longs: u32,
    shorts: u32,
    letter: u8,
}

/// The widest field; a wider one is cut to it.
const WIDTH_MAX: usize = 4096;

/// The text of a format with its arguments, which lie one after the other, each aligned to its
/// size.
pub(super) fn formatted(reader: &Reader<'_>, format: u64, arguments: u64) -> Option<Vec<u8>> {
    let format = reader.text(format)?;
    let mut bytes = format.iter().copied().peekable();
    let mut text = Vec::new();
    let mut next = arguments;
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        let mut conversion = Conversion::default();
        while let Some(flag) = bytes.next_if(|byte| b"-+ 0#".contains(byte)) {
            match flag {
                b'-' => conversion.is_left = true,
                b'+' => conversion.has_plus = true,
                b' ' => conversion.has_space = true,
                b'0' => conversion.has_zeros = true,
                _ => conversion.is_alternate = true,
            }
        }
        let take_number = |bytes: &mut std::iter::Peekable<_>, next: &mut u64| -> Option<i64> {
            let bytes: &mut std::iter::Peekable<std::iter::Copied<std::slice::Iter<'_, u8>>> =
                bytes;
            if bytes.next_if_eq(&b'*').is_some() {
                return Some(word(reader, next)? as i32 as i64);
            }
            let mut number = 0i64;
            while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                number = (number * 10 + i64::from(digit - b'0')).min(WIDTH_MAX as i64);
            }
            Some(number)
        };
        let width = take_number(&mut bytes, &mut next)?;
        conversion.is_left |= width < 0;
        conversion.width = (width.unsigned_abs() as usize).min(WIDTH_MAX);
        if bytes.next_if_eq(&b'.').is_some() {
            let precision = take_number(&mut bytes, &mut next)?;
            conversion.precision = usize::try_from(precision).ok().map(|n| n.min(WIDTH_MAX));
        }
        while let Some(length) = bytes.next_if(|byte| b"lhjzt".contains(byte)) {
            match length {
                b'h' => conversion.shorts += 1,
                _ => conversion.longs += 1,
            }
        }
        conversion.letter = bytes.next().unwrap_or(b'%');
        convert(reader, &conversion, &mut next, &mut text)?;
    }
    Some(text)
}

fn word(reader: &Reader<'_>, next: &mut u64) -> Option<u32> {
    let at = next.wrapping_add(3) & !3;
    *next = at.wrapping_add(4);
    reader.bytes(at).map(u32::from_le_bytes)
}

fn long(reader: &Reader<'_>, next: &mut u64) -> Option<u64> {
    let at = next.wrapping_add(7) & !7;
    *next = at.wrapping_add(8);
    reader.bytes(at).map(u64::from_le_bytes)
}

fn convert(
    reader: &Reader<'_>,
    conversion: &Conversion,
    next: &mut u64,
    text: &mut Vec<u8>,
) -> Option<()> {
    let is_long = conversion.longs > 0;
    match conversion.letter {
        b'%' => text.push(b'%'),
        b'd' | b'i' => {
            let value = match is_long {
                true => long(reader, next)? as i64,
                false => i64::from(word(reader, next)? as i32),
            };
            let value = match conversion.shorts {
                0 => value,
                1 => i64::from(value as i16),
                _ => i64::from(value as i8),
            };
            let digits = digits(conversion, value.unsigned_abs().to_string());
            padded(conversion, sign(conversion, value < 0), &digits, text);
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = match is_long {
                true => long(reader, next)?,
                false => u64::from(word(reader, next)?),
            };
            let value = match conversion.shorts {
                0 => value,
                1 => u64::from(value as u16),
                _ => u64::from(value as u8),
            };
            let (prefix, plain) = match conversion.letter {
                b'x' => ("0x", format!("{value:x}")),
                b'X' => ("0X", format!("{value:X}")),
                b'o' => ("0", format!("{value:o}")),
                _ => ("", value.to_string()),
            };
            let prefix = if conversion.is_alternate && value != 0 {
                prefix
            } else {
                ""
            };
            padded(conversion, prefix, &digits(conversion, plain), text);
        }
        b'c' => {
            let byte = word(reader, next)? as u8;
            fill(conversion, 1, text, |text| text.push(byte));
        }
        b's' => {
            let at = long(reader, next)?;
            let string = match at {
                0 => b"(null)".to_vec(),
                at => reader.text(at)?,
            };
            let kept = conversion
                .precision
                .unwrap_or(string.len())
                .min(string.len());
            fill(conversion, kept, text, |text| {
                text.extend(string.iter().take(kept))
            });
        }
        b'p' => {
            let string = format!("{:#x}", long(reader, next)?);
            fill(conversion, string.len(), text, |text| {
                text.extend(string.bytes())
            });
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(long(reader, next)?);
            let number = float(conversion, value.abs());
            let sign = sign(conversion, value.is_sign_negative());
            let zeros = Conversion {
                has_zeros: conversion.has_zeros && value.is_finite(),
                precision: None,
                ..*conversion
            };
            padded(&zeros, sign, &number, text);
        }
        other => text.extend([b'%', other]),
    }
    Some(())
}

fn sign(conversion: &Conversion, is_negative: bool) -> &'static str {
    match (is_negative, conversion.has_plus, conversion.has_space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    }
}

/// At least as many digits as the precision asks.
fn digits(conversion: &Conversion, digits: String) -> String {
    let precision = conversion.precision.unwrap_or(1);
    match precision == 0 && digits == "0" {
        true => String::new(),
        false => format!(
            "{}{digits}",
            "0".repeat(precision.saturating_sub(digits.len()))
        ),
    }
}

fn padded(conversion: &Conversion, prefix: &str, digits: &str, text: &mut Vec<u8>) {
    let length = prefix.len() + digits.len();
    if conversion.has_zeros && !conversion.is_left && conversion.precision.is_none() {
        text.extend(prefix.bytes());
        text.extend(std::iter::repeat_n(
            b'0',
            conversion.width.saturating_sub(length),
        ));
        text.extend(digits.bytes());
        return;
    }
    fill(conversion, length, text, |text| {
        text.extend(prefix.bytes());
        text.extend(digits.bytes());
    });
}

fn fill(conversion: &Conversion, length: usize, text: &mut Vec<u8>, f: impl FnOnce(&mut Vec<u8>)) {
    let blanks = std::iter::repeat_n(b' ', conversion.width.saturating_sub(length));
    if conversion.is_left {
        f(text);
        text.extend(blanks);
    } else {
        text.extend(blanks);
        f(text);
    }
}

fn float(conversion: &Conversion, value: f64) -> String {
    let is_upper = conversion.letter.is_ascii_uppercase();
    let precision = conversion.precision.unwrap_or(6);
    let text = match conversion.letter.to_ascii_lowercase() {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => "inf".to_owned(),
        b'f' => format!("{value:.precision$}"),
        b'e' => exponential(value, precision),
        b'a' => hexadecimal(value),
        _ => shortest(value, precision.max(1), conversion.is_alternate),
    };
    if is_upper { text.to_uppercase() } else { text }
}

/// Rust writes `1e2` where C writes `1e+02`.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn shortest(value: f64, precision: usize, keeps_zeros: bool) -> String {
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent: i32 = rounded
        .split_once('e')
        .and_then(|(_, text)| text.parse().ok())
        .unwrap_or(0);
    let text = match exponent {
        -4.. if exponent < precision as i32 => {
            format!(
                "{value:.*}",
                (precision as i32 - 1 - exponent).max(0) as usize
            )
        }
        _ => exponential(value, precision - 1),
    };
    if keeps_zeros || !text.contains('.') {
        return text;
    }
    let (mantissa, exponent) = match text.find('e') {
        Some(place) => text.split_at(place),
        None => (text.as_str(), ""),
    };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}{exponent}")
}

fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) as i32 & 0x7FF, bits & ((1 << 52) - 1));
    let (lead, exponent) = match field {
        0 if fraction == 0 => (0, 0),
        0 => (0, -1022),
        _ => (1, field - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let dot = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{dot}{digits}p{exponent:+}")
}
