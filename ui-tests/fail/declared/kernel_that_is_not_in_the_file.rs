//! Claim:   C9
//! Misuse:  declare a kernel whose name is misspelt
//! In C:    `cuModuleGetFunction` fails when the program runs
//! Real:    none known
//! rustc:   has no kernel `saxpi`; its kernels: `saxpy`, `shade`
//! Reads:   the file has no such kernel; the names of those that it has follow
//! Fix:     write the name of one of them

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpi(x: In<f32>, y: InOut<f32>, a: f32, n: u32); // <-
    }
}

fn main() {}
