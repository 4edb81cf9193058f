//! Claim:   C9
//! Misuse:  declare fewer parameters than the kernel has
//! In C:    the driver reads a pointer behind the end of the array of arguments
//! Real:    none known
//! rustc:   has 4 parameters, and 3 are declared here
//! Reads:   the PTX has another number of parameters, and which they are
//! Fix:     declare all of them

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32); // <-
    }
}

fn main() {}
