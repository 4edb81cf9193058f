//! Claim:   C9
//! Misuse:  declare an integer for a parameter of type `float`
//! In C:    the kernel reads the bytes as what they are not
//! Real:    none known
//! rustc:   kernel `saxpy`, parameter `a`: the PTX declares `F32`, and `u32` is not that
//! Reads:   `F32` is `.f32` of the PTX: the kernel's parameter is a `float`
//! Fix:     `f32`

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: u32, n: u32); // <-
    }
}

fn main() {}
