//! Arithmetic whose every bit counts.

use super::{ASYNCHRONOUS, Case, Compare, noise};

pub(super) fn cases() -> Vec<Case> {
    vec![
        integers(),
        wide(),
        conversions(),
        rounding(),
        math(),
        math_double(),
        halves(),
        brains(),
    ]
}

fn integers() -> Case {
    let x = noise(128, 40);
    let mut out = Vec::new();
    for (t, pair) in (0u32..).zip(x.chunks(2)) {
        let (a, b) = (pair[0], pair[1]);
        let (sa, sb) = (a as i32, b as i32);
        let p = u64::from(a).wrapping_mul(u64::from(b));
        let byte = |word: u32, n: u32| (word >> (8 * n)) as u8;
        let both = u64::from(a) | u64::from(b) << 32;
        let pick = |n: u32| (both >> (8 * n)) as u8;
        let dot: i32 = (0..4)
            .map(|n| i32::from(byte(a, n) as i8) * i32::from(byte(b, n) as i8))
            .sum();
        out.extend([
            (p >> 32) as u32,
            ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
            a.reverse_bits(),
            a.leading_zeros(),
            a.count_ones(),
            if a == 0 { 0 } else { a.trailing_zeros() + 1 },
            u32::from_le_bytes([pick(1), pick(7), pick(5), pick(2)]),
            (both << (b & 31) >> 32) as u32,
            (both >> (a & 31)) as u32,
            sa.abs_diff(sb).wrapping_add(t),
            (dot as u32).wrapping_add(t),
            a / (b | 1),
            sa.wrapping_div(sb | 1) as u32,
            a % (b | 1),
            sa.wrapping_rem(sb | 1) as u32,
            (p / u64::from(a | 1)) as u32,
            (p >> (b & 63)) as u32,
            (sa >> (b & 31)) as u32,
            (a & 0xFFFF).wrapping_add(b & 0xFFFF) & 0xFFFF | (a >> 16).wrapping_add(b >> 16) << 16,
            ((i64::from(sa) + i64::from(sb)) >> 1) as u32,
            ((u128::from(p) * u128::from(p)) >> 64) as u32,
            sa.min(sb) as u32,
            ((i64::from(sa) * i64::from(sb)) >> 7) as u32,
            (i32::from(a as u8) + i32::from(b as i16)) as u32,
        ]);
    }
    Case::new("integers", 1, 64)
        .words(&x)
        .fresh(4 * out.len())
        .gives(&out)
}

fn wide() -> Case {
    let x = noise(4 * 64, 41);
    let longs: Vec<u64> = x
        .chunks(2)
        .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
        .collect();
    let mut out = Vec::new();
    for pair in longs.chunks(2) {
        let (a, b) = (pair[0], pair[1]);
        let p = u128::from(a) * u128::from(b);
        let q = p.wrapping_add(u128::from(a));
        let d = p.wrapping_sub(q);
        let values = [
            p as u64,
            (p >> 64) as u64,
            (q >> 64) as u64,
            a / (b | 1),
            a % (b | 1),
            (a as i64).wrapping_div((b | 1) as i64) as u64,
            a.reverse_bits() ^ u64::from(b.count_ones()) ^ u64::from(a.leading_zeros()) << 32,
            (d as u64).wrapping_add((d >> 64) as u64),
        ];
        out.extend(
            values
                .iter()
                .flat_map(|value| [*value as u32, (value >> 32) as u32]),
        );
    }
    Case::new("wide", 1, 64)
        .words(&x)
        .fresh(4 * out.len())
        .gives(&out)
}

fn conversions() -> Case {
    let mut x = vec![
        0.0f32, -0.0, 0.5, 1.5, 2.5, -2.5, 255.7, -1e-3, 3e9, -3e9, 7.9e18, 1e-40,
    ];
    x.extend(
        noise(52, 42)
            .iter()
            .map(|word| (*word as i32) as f32 / 4096.0),
    );
    let mut out = Vec::new();
    for a in &x {
        let (whole, natural) = (*a as i32, *a as u32);
        let d = f64::from(*a);
        let even = (d * 1.5).round_ties_even();
        out.extend([
            whole as u32,
            natural,
            a.round_ties_even() as i32 as u32,
            a.ceil() as i32 as u32,
            a.floor() as i32 as u32,
            (*a as i64 >> 8) as u32,
            u32::from(whole as u8),
            *a as u64 as u32,
            (whole as u32 as f32).to_bits(),
            (natural as f32).to_bits(),
            even as i32 as u32,
            ((d / 3.0) as f32).to_bits(),
            a.round_ties_even().to_bits(),
            a.floor().to_bits(),
            a.trunc().to_bits(),
            (d.to_bits() >> 32) as u32 ^ d.to_bits() as u32,
        ]);
    }
    Case::new("conversions", 1, 64)
        .floats(&x)
        .fresh(4 * out.len())
        .gives(&out)
}

/// A double that is rounded toward a side to a single. Sums and products of the inputs below are
/// exact in doubles, and quotients and roots are far from halves.
fn directed(value: f64, side: i32) -> f32 {
    let near = value as f32;
    let error = value - f64::from(near);
    let toward_zero = if value > 0.0 { -1 } else { 1 };
    let side = if side == 0 { toward_zero } else { side };
    match side {
        1 if error > 0.0 => neighbour(near, true),
        -1 if error < 0.0 => neighbour(near, false),
        _ => near,
    }
}

/// The next single above or below a number that is not zero.
fn neighbour(value: f32, is_above: bool) -> f32 {
    let is_away = is_above == (value > 0.0);
    let bits = value.to_bits();
    f32::from_bits(if is_away { bits + 1 } else { bits - 1 })
}

fn rounding() -> Case {
    let mut x = Vec::new();
    for word in noise(128, 43) {
        let value = ((word >> 8) as f32 + 1.0) * 0.001;
        x.push(if word & 1 == 1 { -value } else { value });
    }
    let mut out = Vec::new();
    for pair in x.chunks(2) {
        let (a, b) = (pair[0], pair[1]);
        let (x, y) = (f64::from(a), f64::from(b));
        out.extend([
            a + b,
            directed(x + y, 0),
            directed(x + y, 1),
            directed(x + y, -1),
        ]);
        out.extend([0, 1, -1].map(|side| directed(x * y, side)));
        // The sum of a product and a factor is a product: it is exact here as an integer of 128
        // bits.
        out.extend([0, 1, -1].map(|side| fused(a, b, side)));
        out.extend([0, 1, -1].map(|side| directed(x / y, side)));
        let root = x.abs().sqrt();
        out.extend([directed(root, 0), directed(root, 1), directed(1.0 / x, -1)]);
        out.extend([
            a.min(b),
            a.max(b),
            a.clamp(0.0, 1.0),
            a.mul_add(b, -(a * b)),
        ]);
    }
    Case::new("rounding", 1, 64)
        .floats(&x)
        .fresh(4 * out.len())
        .gives_floats(&out)
}

/// `a * b + a` toward a side, by way of the error of the double sum.
fn fused(a: f32, b: f32, side: i32) -> f32 {
    let (product, a) = (f64::from(a) * f64::from(b), f64::from(a));
    let sum = product + a;
    let part = sum - product;
    let error = (product - (sum - part)) + (a - part);
    let near = sum as f32;
    let total = (sum - f64::from(near)) + error;
    let toward_zero = if sum > 0.0 { -1 } else { 1 };
    match if side == 0 { toward_zero } else { side } {
        1 if total > 0.0 => neighbour(near, true),
        -1 if total < 0.0 => neighbour(near, false),
        _ => near,
    }
}

fn math() -> Case {
    let x: Vec<f32> = noise(64, 44)
        .iter()
        .map(|word| (*word % 8000) as f32 * 0.001 - 3.7)
        .collect();
    let mut out = Vec::new();
    for a in &x {
        let a = f64::from(*a);
        let values = [
            a.sin(),
            a.cos(),
            a.exp(),
            a.abs().ln(),
            a.abs().powf(1.7f32.into()),
            a.tanh(),
            erf(a),
            a.cbrt(),
            a.exp(),
            1.0 / a.abs().sqrt(),
        ];
        out.extend(values.map(|value| (value as f32).to_bits()));
    }
    let mut case = Case::new("math", 1, 64).floats(&x).fresh(4 * out.len());
    let bytes = super::bytes(&out);
    case.results.push((1, bytes, Compare::Singles(16)));
    case
}

/// The error function, by its series.
fn erf(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn math_double() -> Case {
    let x: Vec<f64> = noise(64, 45)
        .iter()
        .map(|word| f64::from(*word % 8000) * 0.001 - 3.7)
        .collect();
    let mut out = Vec::new();
    for a in &x {
        out.extend([
            a.sin(),
            a.exp(),
            a.abs().ln(),
            a.abs().powf(2.3),
            a / 3.0,
            a.abs().sqrt(),
            a.mul_add(*a, 1.0),
            gamma(a.abs()),
        ]);
    }
    let given: Vec<u8> = x.iter().flat_map(|value| value.to_le_bytes()).collect();
    let bytes: Vec<u8> = out
        .iter()
        .flat_map(|value: &f64| value.to_le_bytes())
        .collect();
    let mut case = Case::new("math_double", 1, 64)
        .bytes(&given)
        .fresh(bytes.len());
    case.results.push((1, bytes, Compare::Doubles(1 << 14)));
    case
}

/// The gamma function, by Stirling's series far from zero.
fn gamma(x: f64) -> f64 {
    let (mut z, mut divisor) = (x, 1.0);
    while z < 20.0 {
        divisor *= z;
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    let log = (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series;
    log.exp() / divisor
}

/// A half or a bfloat16 next to a number: so many bits of fraction, the least exponent.
fn narrowed(value: f64, fraction: i32, least: i32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let exponent = value.abs().log2().floor() as i32;
    let unit = 2f64.powi((exponent - fraction).max(least - fraction));
    (value / unit).round_ties_even() * unit
}

fn half(value: f64) -> f64 {
    narrowed(value, 10, -14)
}

fn brain(value: f64) -> f64 {
    narrowed(value, 7, -126)
}

fn halves() -> Case {
    let x: Vec<f32> = noise(128, 46)
        .iter()
        .map(|word| (*word % 4000) as f32 * 0.01 - 17.3)
        .collect();
    let mut out = Vec::new();
    for (t, pair) in x.chunks(2).enumerate() {
        let (a, b) = (half(pair[0].into()), half(pair[1].into()));
        let values = [
            a,
            half(a + b),
            half(a * b),
            half(a * b + a),
            half(a - b),
            half(a * a + b),
            half(b * b + a),
            f64::from(u8::from(a < b)),
            a.max(b),
            a.round_ties_even(),
            half((t * 1001) as f64),
            half(a / b),
        ];
        out.extend(values.map(|value| value as f32));
    }
    let mut case = Case::new("halves", 1, 64)
        .floats(&x)
        .fresh(4 * out.len())
        .gives_floats(&out);
    case.text = ASYNCHRONOUS;
    case
}

fn brains() -> Case {
    let x: Vec<f32> = noise(128, 47)
        .iter()
        .map(|word| (*word % 4000) as f32 * 0.01 - 17.3)
        .collect();
    let mut out = Vec::new();
    for pair in x.chunks(2) {
        let (a, b) = (brain(pair[0].into()), brain(pair[1].into()));
        let values = [
            a,
            brain(a + b),
            brain(a * b),
            brain(a * b + a),
            a.min(b),
            f64::from(u8::from(a > b)),
        ];
        out.extend(values.map(|value| value as f32));
    }
    let mut case = Case::new("brains", 1, 64)
        .floats(&x)
        .fresh(4 * out.len())
        .gives_floats(&out);
    case.text = ASYNCHRONOUS;
    case
}
