//! Numbers, and constant expressions in the manner of C.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::position::ParseError;

/// How deep parentheses and signs may stand.
const DEPTH_MAX: u32 = 64;

/// A constant: an integer, or the bits of a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Integer(u64),
    Float(u64),
}

/// The value of an integer as it is spelled: decimal, octal, hexadecimal or binary.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', b'b' | b'B', ..] => (text.get(2..)?, 2),
        [b'0', _, ..] => (text.get(1..)?, 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

/// The value of a number as it is spelled.
fn number(text: &str) -> Option<Constant> {
    let bytes = text.as_bytes();
    if let [b'0', kind @ (b'f' | b'F' | b'd' | b'D'), ..] = bytes {
        let bits = u64::from_str_radix(text.get(2..)?, 16).ok()?;
        return match (kind.to_ascii_lowercase(), bytes.len()) {
            (b'f', 10) => Some(Constant::Float(of_single(bits as u32))),
            (b'd', 18) => Some(Constant::Float(bits)),
            _ => None,
        };
    }
    if let Some(value) = integer(text) {
        return Some(Constant::Integer(value));
    }
    let is_float = bytes
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let is_float = is_float && bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let value: f64 = is_float.then(|| text.parse().ok())??;
    Some(Constant::Float(value.to_bits()))
}

/// The double of a single. A NaN keeps its payload.
fn of_single(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    match value.is_nan() {
        false => f64::from(value).to_bits(),
        true => {
            let sign = u64::from(bits >> 31) << 63;
            sign | 0x7FF0_0000_0000_0000 | (u64::from(bits & 0x7F_FFFF) << 29)
        }
    }
}

/// The single of a constant that is kept as a double.
pub(crate) fn single(bits: u64) -> u32 {
    let value = f64::from_bits(bits);
    match value.is_nan() {
        true => ((bits >> 32) as u32 & 0x8000_0000) | 0x7F80_0000 | (bits >> 29) as u32 & 0x7F_FFFF,
        false => (value as f32).to_bits(),
    }
}

/// Reads a constant expression.
pub(super) fn constant(cursor: &mut Cursor<'_>) -> Result<Constant, ParseError> {
    choice(cursor, 0)
}

/// Reads a constant expression that is an integer.
pub(super) fn whole(cursor: &mut Cursor<'_>) -> Result<u64, ParseError> {
    let at = cursor.at();
    match constant(cursor)? {
        Constant::Integer(value) => Ok(value),
        Constant::Float(..) => Err(ParseError::new(at, "an integer is expected")),
    }
}

fn choice(cursor: &mut Cursor<'_>, depth: u32) -> Result<Constant, ParseError> {
    let condition = binary(cursor, 0, depth)?;
    if !cursor.is_mark("?") || depth > DEPTH_MAX {
        return Ok(condition);
    }
    cursor.take();
    let yes = choice(cursor, depth + 1)?;
    cursor.expect(":")?;
    let no = choice(cursor, depth + 1)?;
    Ok(match condition {
        Constant::Integer(0) => no,
        _ => yes,
    })
}

/// The operators, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn binary(cursor: &mut Cursor<'_>, level: usize, depth: u32) -> Result<Constant, ParseError> {
    let Some(operators) = LEVELS.get(level) else {
        return unary(cursor, depth);
    };
    let mut left = binary(cursor, level + 1, depth)?;
    loop {
        let token = cursor.peek();
        if token.kind != Kind::Mark || !operators.contains(&token.text) {
            return Ok(left);
        }
        cursor.take();
        let right = binary(cursor, level + 1, depth)?;
        let value = match (left, right) {
            (Constant::Integer(a), Constant::Integer(b)) => {
                of_integers(token.text, a, b).map(Constant::Integer)
            }
            _ => of_floats(token.text, left, right),
        };
        let message = format!("`{}` has no value here", token.text);
        left = value.ok_or_else(|| ParseError::new(token.at, message))?;
    }
}

fn of_integers(operator: &str, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (a as i64, b as i64);
    Some(match operator {
        "||" => u64::from(a != 0 || b != 0),
        "&&" => u64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => u64::from(a == b),
        "!=" => u64::from(a != b),
        "<" => u64::from(x < y),
        "<=" => u64::from(x <= y),
        ">" => u64::from(x > y),
        ">=" => u64::from(x >= y),
        "<<" => a.checked_shl(u32::try_from(b).ok()?).unwrap_or(0),
        ">>" => x.checked_shr(u32::try_from(b).ok()?).unwrap_or(x >> 63) as u64,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => x.checked_div(y)? as u64,
        "%" => x.checked_rem(y)? as u64,
        _ => return None,
    })
}

fn of_floats(operator: &str, a: Constant, b: Constant) -> Option<Constant> {
    let value = |constant| match constant {
        Constant::Integer(value) => value as i64 as f64,
        Constant::Float(bits) => f64::from_bits(bits),
    };
    let (a, b) = (value(a), value(b));
    let truth = |is_true: bool| Some(Constant::Integer(u64::from(is_true)));
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "==" => return truth(a == b),
        "!=" => return truth(a != b),
        "<" => return truth(a < b),
        "<=" => return truth(a <= b),
        ">" => return truth(a > b),
        ">=" => return truth(a >= b),
        _ => return None,
    };
    Some(Constant::Float(result.to_bits()))
}

fn unary(cursor: &mut Cursor<'_>, depth: u32) -> Result<Constant, ParseError> {
    if depth > DEPTH_MAX {
        return cursor.wrong("the expression is nested too deeply");
    }
    let token = cursor.peek();
    if token.kind == Kind::Number {
        cursor.take();
        let message = format!("`{}` is not a number", token.text);
        return number(token.text).ok_or_else(|| ParseError::new(token.at, message));
    }
    if token.kind == Kind::Word && token.text == "WARP_SZ" {
        cursor.take();
        return Ok(Constant::Integer(32));
    }
    if token.kind != Kind::Mark {
        return cursor.wrong("a number is expected");
    }
    cursor.take();
    match token.text {
        "(" if cursor.is_dot("s64") || cursor.is_dot("u64") => {
            cursor.take();
            cursor.expect(")")?;
            unary(cursor, depth + 1)
        }
        "(" => {
            let value = choice(cursor, depth + 1)?;
            cursor.expect(")")?;
            Ok(value)
        }
        "+" | "-" | "!" | "~" => {
            let value = unary(cursor, depth + 1)?;
            let value = match (token.text, value) {
                ("+", value) => Some(value),
                ("-", Constant::Integer(value)) => Some(Constant::Integer(value.wrapping_neg())),
                ("-", Constant::Float(bits)) => Some(Constant::Float(bits ^ (1 << 63))),
                ("!", Constant::Integer(value)) => Some(Constant::Integer(u64::from(value == 0))),
                ("~", Constant::Integer(value)) => Some(Constant::Integer(!value)),
                _ => None,
            };
            value.ok_or_else(|| ParseError::new(token.at, "the sign does not fit the number"))
        }
        _ => Err(ParseError::new(
            token.at,
            format!("a number is expected; `{}` stands here", token.text),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn value(text: &str) -> Option<Constant> {
        let tokens = tokens(text).unwrap();
        constant(&mut Cursor::new(&tokens)).ok()
    }

    #[test]
    fn expressions_follow_c() {
        assert_eq!(value("1 + 2 * 3"), Some(Constant::Integer(7)));
        assert_eq!(value("(1 + 2) * 3 << 1"), Some(Constant::Integer(18)));
        assert_eq!(value("-1 < 0 ? 0x10 : 010"), Some(Constant::Integer(16)));
        assert_eq!(value("7 % 4 - ~0"), Some(Constant::Integer(4)));
        assert_eq!(value("0f3F800000"), Some(Constant::Float(1f64.to_bits())));
        assert_eq!(value("1.5 * 2"), Some(Constant::Float(3f64.to_bits())));
        assert_eq!(value("1 / 0"), None);
        assert_eq!(value(&"(".repeat(100_000)), None);
        assert_eq!(value(&"-".repeat(100_000)), None);
    }

    #[test]
    fn a_nan_keeps_its_payload() {
        let Some(Constant::Float(bits)) = value("0f7FC12345") else {
            panic!("a single is expected")
        };
        assert_eq!(single(bits), 0x7FC1_2345);
    }
}
