//! Claim:   C9
//! Misuse:  declare a float for a parameter of type `unsigned`
//! In C:    the kernel reads the bytes as what they are not
//! Real:    none known
//! rustc:   kernel `saxpy`, parameter `n`: the PTX declares `U32`, and `f32` is not that
//! Reads:   `U32` is `.u32` of the PTX: the kernel's parameter is an integer of 32 bits
//! Fix:     `u32`

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: f32); // <-
    }
}

fn main() {}
