//! Claim:   C9
//! Misuse:  declare more parameters than the kernel has
//! In C:    the driver does not look at the last
//! Real:    none known
//! rustc:   has 4 parameters, and 5 are declared here
//! Reads:   the PTX has another number of parameters, and which they are
//! Fix:     leave the last one away

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32, m: u32); // <-
    }
}

fn main() {}
