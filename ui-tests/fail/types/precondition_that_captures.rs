//! Claim:   C12
//! Misuse:  let a precondition depend on something else than the launch
//! In C:    a check against a value that has changed since
//! Real:    none known
//! rustc:   expected fn pointer, found closure
//! Reads:   a precondition is a function of configuration and arguments alone: it captures nothing, so that what it says is all there is to check
//! Fix:     make it a parameter of the kernel, or a `const`

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>, most: u32) -> SafeKernel<'gpu, Scale> {
    println!("{most}");
    // SAFETY: x[i] *= 2 for i below n only, whatever the grid, and x has `most` elements.
    unsafe { scale.assert_safe_when([("n is at most `most`", |_, (_, n)| n <= most)]) } // <-
}

fn main() {}
