//! Claim:   C12
//! Misuse:  say when a launch is safe without anybody vouching for it
//! In C:    there is nothing to vouch for: every launch may be wrong
//! Real:    none known
//! rustc:   assert_safe_when` is unsafe and requires unsafe block
//! Reads:   that the preconditions suffice is a promise about the kernel's source, which the compiler does not see
//! Fix:     `unsafe`, with the reason in a SAFETY comment

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>) -> SafeKernel<'gpu, Scale> {
    scale.assert_safe_when([("n is at most the length of x", |_, (x, n)| n as usize <= x)]) // <-
}

fn main() {}
