//! Arithmetic on binary floating-point numbers of every width, exactly, then rounded once.
//!
//! It serves what the machine's own arithmetic does not offer: directed rounding, halves, bfloat16.

/// A binary format of IEEE 754.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// The bits of the fraction.
    fraction: u32,
    /// The bits of the exponent.
    exponent: u32,
}

pub(crate) const F16: Format = Format {
    fraction: 10,
    exponent: 5,
};
pub(crate) const BF16: Format = Format {
    fraction: 7,
    exponent: 8,
};
pub(crate) const TF32: Format = Format {
    fraction: 10,
    exponent: 8,
};
pub(crate) const F32: Format = Format {
    fraction: 23,
    exponent: 8,
};
pub(crate) const F64: Format = Format {
    fraction: 52,
    exponent: 11,
};

/// How a number between two numbers of a format is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To the nearest, to the even one of two.
    Nearest,
    /// To the nearest, away from zero between two.
    NearestAway,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Nan,
    Infinite(bool),
    Finite(Finite),
}

/// `mantissa * 2^exponent`, negative if `sign`, and a little more away from zero if `rest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finite {
    pub(crate) sign: bool,
    pub(crate) mantissa: u128,
    pub(crate) exponent: i32,
    pub(crate) rest: bool,
}

impl Finite {
    pub(crate) fn new(sign: bool, mantissa: u128, exponent: i32) -> Self {
        Self {
            sign,
            mantissa,
            exponent,
            rest: false,
        }
    }

    /// The same number with the highest bit of the mantissa at a place.
    fn raised(mut self, place: u32) -> Self {
        let top = 127u32.saturating_sub(self.mantissa.leading_zeros());
        if self.mantissa != 0 && top < place {
            self.mantissa <<= place - top;
            self.exponent -= (place - top) as i32;
        }
        self
    }
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The exponent of the smallest number.
    fn least(self) -> i32 {
        1 - self.bias() - self.fraction as i32
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    /// The NaN that instructions make.
    pub(crate) fn nan(self) -> u64 {
        match self.fraction {
            52 => 0xFFF8_0000_0000_0000,
            _ => self.sign_bit() - 1,
        }
    }

    /// The same bits, or zero with their sign if they are a subnormal of 32 bits or fewer.
    pub(crate) fn without_subnormal(self, bits: u64) -> u64 {
        match bits & self.infinity() {
            0 if self.fraction < 52 => bits & self.sign_bit(),
            _ => bits,
        }
    }

    /// Takes the bits of a number apart.
    pub(crate) fn decode(self, bits: u64) -> Number {
        let sign = bits & self.sign_bit() != 0;
        let fraction = bits & ((1 << self.fraction) - 1);
        let field = (bits >> self.fraction) as i32 & ((1 << self.exponent) - 1);
        match field {
            0 => Number::Finite(Finite::new(sign, u128::from(fraction), self.least())),
            _ if field < (1 << self.exponent) - 1 => {
                let mantissa = u128::from(fraction | 1 << self.fraction);
                Number::Finite(Finite::new(sign, mantissa, self.least() + field - 1))
            }
            _ if fraction == 0 => Number::Infinite(sign),
            _ => Number::Nan,
        }
    }

    /// The bits of a number, rounded.
    pub(crate) fn encode(self, number: Number, mode: Mode) -> u64 {
        match number {
            Number::Nan => self.nan(),
            Number::Infinite(sign) => self.signed(sign, self.infinity()),
            Number::Finite(finite) => self.signed(finite.sign, self.magnitude(finite, mode)),
        }
    }

    fn signed(self, sign: bool, bits: u64) -> u64 {
        if sign { bits | self.sign_bit() } else { bits }
    }

    fn magnitude(self, finite: Finite, mode: Mode) -> u64 {
        if finite.mantissa == 0 {
            return 0;
        }
        // Room below the last place, so that the rest counts for less than a half.
        let finite = finite.raised(66);
        let top = 127 - finite.mantissa.leading_zeros() as i32;
        let unit = (finite.exponent + top - self.fraction as i32).max(self.least());
        let down = (unit - finite.exponent).clamp(0, 127) as u32;
        let (whole, below) = (finite.mantissa >> down, finite.mantissa & ((1 << down) - 1));
        let half = 1u128 << down.saturating_sub(1);
        let is_exact = below == 0 && !finite.rest;
        let is_up = match mode {
            _ if is_exact => false,
            Mode::Nearest if below == half && !finite.rest => whole & 1 == 1,
            Mode::Nearest | Mode::NearestAway => below >= half,
            Mode::Zero => false,
            Mode::Down => finite.sign,
            Mode::Up => !finite.sign,
        };
        let mut whole = whole as u64 + u64::from(is_up);
        let mut unit = unit;
        if whole >> (self.fraction + 1) != 0 {
            whole >>= 1;
            unit += 1;
        }
        if whole >> self.fraction == 0 {
            return whole;
        }
        let field = (unit - self.least() + 1) as u64;
        if field < (1 << self.exponent) - 1 {
            return field << self.fraction | whole & ((1 << self.fraction) - 1);
        }
        match mode {
            Mode::Zero => self.infinity() - 1,
            Mode::Down if !finite.sign => self.infinity() - 1,
            Mode::Up if finite.sign => self.infinity() - 1,
            _ => self.infinity(),
        }
    }
}

/// The product, without rounding.
fn product(a: Finite, b: Finite) -> Finite {
    Finite::new(
        a.sign != b.sign,
        a.mantissa * b.mantissa,
        a.exponent + b.exponent,
    )
}

/// The sum. `mode` decides the sign of a zero.
fn sum(a: Finite, b: Finite, mode: Mode) -> Finite {
    if a.mantissa == 0 && b.mantissa == 0 {
        let sign = if a.sign == b.sign {
            a.sign
        } else {
            mode == Mode::Down
        };
        return Finite::new(sign, 0, 0);
    }
    let (a, b) = (a.raised(125), b.raised(125));
    let is_a_larger = match (a.mantissa, b.mantissa) {
        (_, 0) => true,
        (0, _) => false,
        _ => (a.exponent, a.mantissa) >= (b.exponent, b.mantissa),
    };
    let (large, small) = if is_a_larger { (a, b) } else { (b, a) };
    let down = (large.exponent - small.exponent).clamp(0, 127) as u32;
    let (moved, rest) = match small.mantissa {
        0 => (0, false),
        mantissa => (mantissa >> down, mantissa & ((1 << down) - 1) != 0),
    };
    if large.sign == small.sign {
        return Finite {
            mantissa: large.mantissa + moved,
            rest,
            ..large
        };
    }
    let mantissa = large.mantissa - moved - u128::from(rest);
    let sign = if mantissa == 0 && !rest {
        mode == Mode::Down
    } else {
        large.sign
    };
    Finite {
        sign,
        mantissa,
        exponent: large.exponent,
        rest,
    }
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(format: Format, a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    use Number::{Finite, Infinite, Nan};
    let number = match (format.decode(a), format.decode(b), format.decode(c)) {
        (Nan, ..) | (_, Nan, _) | (.., Nan) => Nan,
        (Finite(a), Finite(b), Finite(c)) => Finite(sum(product(a, b), c, mode)),
        (Finite(_), Finite(_), Infinite(sign)) => Infinite(sign),
        (a, b, c) => match (times_infinity(a, b), c) {
            (Infinite(a), Infinite(c)) if a != c => Nan,
            (product, _) => product,
        },
    };
    format.encode(number, mode)
}

/// The product of two of which one is infinite.
fn times_infinity(a: Number, b: Number) -> Number {
    let part = |number| match number {
        Number::Finite(finite) => (finite.sign, finite.mantissa == 0),
        Number::Infinite(sign) => (sign, false),
        Number::Nan => (false, true),
    };
    let (a, b) = (part(a), part(b));
    match a.1 || b.1 {
        true => Number::Nan,
        false => Number::Infinite(a.0 != b.0),
    }
}

/// `a + b`
pub(crate) fn add(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    let one = (format.bias() as u64) << format.fraction;
    fma(format, a, one, b, mode)
}

/// `a * b`
pub(crate) fn mul(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    use Number::{Finite, Nan};
    let number = match (format.decode(a), format.decode(b)) {
        (Nan, _) | (_, Nan) => Nan,
        (Finite(a), Finite(b)) => Finite(product(a, b)),
        (a, b) => times_infinity(a, b),
    };
    format.encode(number, mode)
}

/// `a / b`
pub(crate) fn div(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    use Number::{Infinite, Nan};
    let number = match (format.decode(a), format.decode(b)) {
        (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) => Nan,
        (Number::Finite(a), Number::Finite(b)) => quotient(a, b),
        (Infinite(a), Number::Finite(b)) => Infinite(a != b.sign),
        (Number::Finite(a), Infinite(b)) => Number::Finite(Finite::new(a.sign != b, 0, 0)),
    };
    format.encode(number, mode)
}

fn quotient(a: Finite, b: Finite) -> Number {
    let sign = a.sign != b.sign;
    match (a.mantissa, b.mantissa) {
        (0, 0) => Number::Nan,
        (_, 0) => Number::Infinite(sign),
        (0, _) => Number::Finite(Finite::new(sign, 0, 0)),
        _ => {
            let a = a.raised(126);
            Number::Finite(Finite {
                sign,
                mantissa: a.mantissa / b.mantissa,
                exponent: a.exponent - b.exponent,
                rest: a.mantissa % b.mantissa != 0,
            })
        }
    }
}

/// The square root.
pub(crate) fn sqrt(format: Format, a: u64, mode: Mode) -> u64 {
    let number = match format.decode(a) {
        Number::Finite(a) if a.mantissa == 0 => Number::Finite(a),
        Number::Finite(a) if !a.sign => {
            let mut a = a.raised(125);
            if a.exponent & 1 != 0 {
                a.mantissa <<= 1;
                a.exponent -= 1;
            }
            let root = a.mantissa.isqrt();
            Number::Finite(Finite {
                sign: false,
                mantissa: root,
                exponent: a.exponent / 2,
                rest: root * root != a.mantissa,
            })
        }
        Number::Infinite(false) => Number::Infinite(false),
        _ => Number::Nan,
    };
    format.encode(number, mode)
}

/// The whole number that a number is rounded to, within the range of a type of so many bits.
pub(crate) fn to_integer(number: Number, bits: u32, signed: bool, mode: Mode) -> u64 {
    let (least, most) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let value = match number {
        Number::Nan if bits == 64 => 1i128 << 63,
        Number::Nan => 0,
        Number::Infinite(sign) => {
            if sign {
                least
            } else {
                most
            }
        }
        Number::Finite(finite) => {
            let whole = whole(finite, mode).min(1 << 100) as i128;
            let value = if finite.sign { -whole } else { whole };
            value.clamp(least, most)
        }
    };
    value as u64
}

/// The magnitude as a whole number.
pub(crate) fn whole(finite: Finite, mode: Mode) -> u128 {
    if finite.mantissa == 0 {
        return 0;
    }
    if finite.exponent >= 0 {
        let room = finite.mantissa.leading_zeros() as i32;
        return if finite.exponent >= room {
            u128::MAX >> 1
        } else {
            finite.mantissa << finite.exponent
        };
    }
    let down = (-finite.exponent).min(120) as u32;
    let (whole, below) = (finite.mantissa >> down, finite.mantissa & ((1 << down) - 1));
    let half = 1u128 << (down - 1);
    let is_up = match mode {
        _ if below == 0 => false,
        Mode::Nearest if below == half => whole & 1 == 1,
        Mode::Nearest | Mode::NearestAway => below >= half,
        Mode::Zero => false,
        Mode::Down => finite.sign,
        Mode::Up => !finite.sign,
    };
    whole + u128::from(is_up)
}

/// The same number in another format.
pub(crate) fn convert(from: Format, to: Format, bits: u64, mode: Mode) -> u64 {
    to.encode(from.decode(bits), mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all kinds, from a generator.
    fn numbers() -> Vec<f32> {
        let mut state = 1u32;
        let mut numbers = vec![
            0.0,
            -0.0,
            1.0,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            f32::INFINITY,
        ];
        for _ in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            numbers.push(f32::from_bits(state));
        }
        numbers.retain(|number| !number.is_nan());
        numbers
    }

    #[test]
    fn nearest_is_what_the_machine_computes() {
        for a in numbers() {
            for b in numbers() {
                let bits = |value: f32| {
                    u64::from(if value.is_nan() {
                        0x7FFF_FFFF
                    } else {
                        value.to_bits()
                    })
                };
                let (x, y) = (bits(a), bits(b));
                assert_eq!(add(F32, x, y, Mode::Nearest), bits(a + b), "{a} + {b}");
                assert_eq!(mul(F32, x, y, Mode::Nearest), bits(a * b), "{a} * {b}");
                assert_eq!(div(F32, x, y, Mode::Nearest), bits(a / b), "{a} / {b}");
                let fused = a.mul_add(b, 1.5);
                assert_eq!(
                    fma(F32, x, y, bits(1.5), Mode::Nearest),
                    bits(fused),
                    "{a} * {b} + 1.5"
                );
            }
            assert_eq!(sqrt(F32, u64::from(a.to_bits()), Mode::Nearest), {
                let root = a.sqrt();
                u64::from(if root.is_nan() {
                    0x7FFF_FFFF
                } else {
                    root.to_bits()
                })
            });
        }
    }

    #[test]
    fn directed_modes_enclose_the_exact_sum() {
        let (one, tiny) = (u64::from(1f32.to_bits()), u64::from(1e-30f32.to_bits()));
        assert_eq!(add(F32, one, tiny, Mode::Down), one);
        assert_eq!(add(F32, one, tiny, Mode::Up), one + 1);
        let minus_tiny = tiny | 1 << 31;
        assert_eq!(add(F32, one, minus_tiny, Mode::Down), one - 1);
        assert_eq!(add(F32, one, minus_tiny, Mode::Zero), one - 1);
        assert_eq!(add(F32, one, minus_tiny, Mode::Up), one);
        let max = u64::from(f32::MAX.to_bits());
        assert_eq!(mul(F32, max, max, Mode::Zero), max);
        assert_eq!(mul(F32, max, max, Mode::Up), max + 1);
        assert_eq!(add(F32, one, one | 1 << 31, Mode::Down), 1 << 31);
    }

    #[test]
    fn halves_and_integers_are_rounded() {
        let half = |value: f32| convert(F32, F16, u64::from(value.to_bits()), Mode::Nearest);
        assert_eq!(half(1.0), 0x3C00);
        assert_eq!(half(65520.0), 0x7C00);
        assert_eq!(half(65519.0), 0x7BFF);
        assert_eq!(half(6e-8), 1);
        assert_eq!(half(f32::NAN), 0x7FFF);
        let whole =
            |value: f32, mode| to_integer(F32.decode(u64::from(value.to_bits())), 32, true, mode);
        assert_eq!(whole(2.5, Mode::Nearest), 2);
        assert_eq!(whole(-2.5, Mode::Down) as i32, -3);
        assert_eq!(whole(3e9, Mode::Zero), 0x7FFF_FFFF);
        assert_eq!(whole(f32::NAN, Mode::Zero), 0);
        assert_eq!(whole(1e-40, Mode::Up), 1);
    }
}
