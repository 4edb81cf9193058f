//! Claim:   C9
//! Misuse:  declare two parameters in the wrong order
//! In C:    the kernel reads the bytes as what they are not
//! Real:    none known
//! rustc:   kernel `saxpy`, parameter `n`: the PTX declares `F32`, and `u32` is not that
//! Reads:   the third parameter is a `.f32`, and the fourth a `.u32`
//! Fix:     the order of the kernel

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, n: u32, a: f32); // <-
    }
}

fn main() {}
