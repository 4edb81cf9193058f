//! `fma.rn.f32` over all lanes.

use super::lanes::{Args, Registers, WARP, bits32};

/// A product and a sum with one rounding, in double precision, which needs no instruction of its
/// own.
///
/// The product of two singles is exact in a double. The sum is rounded to odd, so that the second
/// rounding gives what one rounding would.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    let bits = sum.to_bits();
    // What was cut off lies toward zero of the sum or away from it.
    let is_inexact = error != 0.0 && error.is_finite();
    let is_toward_zero = (error < 0.0) != (sum < 0.0);
    let truncated = if is_toward_zero {
        bits.wrapping_sub(1)
    } else {
        bits
    };
    let odd = if is_inexact { truncated | 1 } else { bits };
    f64::from_bits(odd) as f32
}

/// The instruction.
pub(crate) fn run(r: &mut Registers, x: &Args, mask: u32) {
    let mut out = [0; WARP];
    let (a, b, c) = (r.word(x.a), r.word(x.b), r.word(x.c));
    for lane in 0..WARP {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f32::from_bits);
        out[lane] = bits32(fused(a, b, c));
    }
    r.set_words(x.d, &out, mask);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_fused_product_and_sum() {
        let mut state = 7u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        for round in 0..1_000_000u32 {
            let (a, b) = (f32::from_bits(next()), f32::from_bits(next()));
            // Every other sum nearly cancels or has its last bit far below the product's.
            let c = match round % 4 {
                0 => f32::from_bits(next()),
                1 => f32::from_bits(
                    (-(a * b))
                        .to_bits()
                        .wrapping_add(next() % 3)
                        .wrapping_sub(1),
                ),
                2 => f32::from_bits((a * b).to_bits().wrapping_add(next() % (1 << 28))),
                _ => f32::from_bits(next() >> 8),
            };
            let (fused, expected) = (fused(a, b, c), a.mul_add(b, c));
            assert_eq!(bits32(fused), bits32(expected), "{a:e} * {b:e} + {c:e}");
        }
    }
}
