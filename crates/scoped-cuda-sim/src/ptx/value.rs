//! Initial values: which numbers an element of a type may be given, and their bits.

/// What comes before the name.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) holds: Holds,
    pub(super) bytes: usize,
    /// Elements of a vector.
    pub(super) lanes: Option<usize>,
    pub(super) alignment: Option<usize>,
}

/// What an initialiser may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Integers,
    Floats,
    Bits,
    /// Types without initialisers.
    Nothing,
}

impl Holds {
    pub(super) fn of(word: &[u8]) -> Self {
        match word {
            b".f32" | b".f64" => Self::Floats,
            b".f16" | b".bf16" | b".f16x2" | b".bf16x2" => Self::Nothing,
            _ if word.starts_with(b".b") => Self::Bits,
            _ => Self::Integers,
        }
    }
}

impl Type {
    /// The bits of an initialiser. Those of an expression, such as an address, are zero. `None` for
    /// a number of the wrong kind.
    pub(super) fn value(self, text: &str) -> Option<u128> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        let (takes_integers, takes_floats) = match self.holds {
            Holds::Integers => (true, false),
            Holds::Floats => (false, true),
            Holds::Bits => (true, self.bytes == 4 || self.bytes == 8),
            Holds::Nothing => return None,
        };
        if let Some(value) = integer(digits) {
            let value = u128::from(value);
            let signed = if is_negative {
                value.wrapping_neg()
            } else {
                value
            };
            return takes_integers.then_some(signed);
        }
        if let Some(bits) = float_bits(text) {
            return takes_floats.then(|| self.float(bits));
        }
        match digits.parse::<f64>() {
            Ok(value) if is_number => {
                let signed = if is_negative { -value } else { value };
                takes_floats.then(|| self.float(Float::Double(signed)))
            }
            _ => Some(0),
        }
    }

    fn float(self, value: Float) -> u128 {
        match (self.bytes, value) {
            (4, Float::Single(value)) => u128::from(value.to_bits()),
            (4, Float::Double(value)) => u128::from((value as f32).to_bits()),
            (_, Float::Single(value)) => u128::from(f64::from(value).to_bits()),
            (_, Float::Double(value)) => u128::from(value.to_bits()),
        }
    }
}

/// Decimal, hexadecimal, binary or octal, perhaps with a `U` behind.
fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['u', 'U']).unwrap_or(text);
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some(_) if text.starts_with('0') => (&text[1..], 8),
        _ => (text, 10),
    };
    let is_plain = !digits.starts_with('+');
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

/// Whether a word is a number that no type holds.
pub(super) fn is_too_large(word: &str) -> bool {
    let digits = word.trim_end_matches(['u', 'U']);
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with("0x");
    match word.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        true if is_whole => integer(word).is_none(),
        true => word.parse::<f64>().is_ok_and(f64::is_infinite),
        false => false,
    }
}

/// A number in the width in which it is written.
#[derive(Clone, Copy)]
pub(super) enum Float {
    Single(f32),
    Double(f64),
}

/// `0f3F800000` or `0d3FF0000000000000`.
pub(super) fn float_bits(text: &str) -> Option<Float> {
    let (kind, digits) = (text.get(..2)?, text.get(2..)?);
    let bits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bits = bits.then(|| u64::from_str_radix(digits, 16).ok())??;
    match (kind, digits.len()) {
        ("0f" | "0F", 8) => Some(Float::Single(f32::from_bits(bits as u32))),
        ("0d" | "0D", 16) => Some(Float::Double(f64::from_bits(bits))),
        _ => None,
    }
}
