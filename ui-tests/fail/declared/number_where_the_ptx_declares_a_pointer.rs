//! Claim:   C9
//! Misuse:  declare a float for a parameter that is a pointer
//! In C:    the kernel takes the number for an address
//! Real:    none known
//! rustc:   parameter `x`: the PTX declares `PointerToGlobalMemory`, and `f64` is not that
//! Reads:   the PTX says `.ptr`: the kernel's parameter is an address
//! Fix:     `In<f32>`, or `InOut<f32>`

use scoped_cuda::{InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: f64, y: InOut<f32>, a: f32, n: u32); // <-
    }
}

fn main() {}
