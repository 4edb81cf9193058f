//! Claim:   C12
//! Misuse:  write a precondition for another list of parameters
//! In C:    a comment beside the launch, which nobody compares with the kernel
//! Real:    none known
//! rustc:   mismatched types
//! Reads:   a precondition sees one thing for each parameter: of memory its length, of plain data the value. Here are three names for two parameters
//! Fix:     name what the parameters are, in their order

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>) -> SafeKernel<'gpu, Scale> {
    let short = "n is at most the length of x";
    // SAFETY: x[i] *= 2 for i below n only, whatever the grid.
    unsafe { scale.assert_safe_when([(short, |_, (x, n, k)| n as usize <= x)]) } // <-
}

fn main() {}
