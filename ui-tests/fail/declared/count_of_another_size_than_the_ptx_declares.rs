//! Claim:   C9
//! Misuse:  declare a `usize` for a parameter of type `unsigned`
//! In C:    the driver copies the lower half, or the next parameter is read where it is not
//! Real:    none known
//! rustc:   kernel `saxpy`, parameter `n`: the PTX declares `U32`, and `usize` is not that
//! Reads:   `U32` is `.u32` of the PTX: the kernel's parameter has 32 bits, a `usize` has 64
//! Fix:     `u32`, or a `size_t` in the kernel

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: usize); // <-
    }
}

fn main() {}
