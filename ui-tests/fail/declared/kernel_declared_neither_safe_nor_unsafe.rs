//! Claim:   C9
//! Misuse:  declare a kernel without saying whether its launch is safe
//! In C:    nothing says so
//! Real:    none known
//! rustc:   no rules expected
//! Reads:   a kernel is declared `unsafe fn`, or `safe fn` with what has to hold
//! Fix:     `unsafe fn`, or `safe fn` in an `unsafe extern`

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32); // <-
    }
}

fn main() {}
