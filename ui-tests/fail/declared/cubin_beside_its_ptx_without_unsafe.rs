//! Claim:   C12
//! Misuse:  load machine code, and promise nothing of where it is from
//! In C:    the driver believes what it is given, and crashes
//! Real:    none known
//! rustc:   `with cubin` promises that the PTX was compiled to the file: write `unsafe extern`
//! Reads:   nothing compares the machine code with the PTX but whoever has made both
//! Fix:     `unsafe extern`, with the reason

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" with cubin("../../declared.ptx") { // <-
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}

fn main() {}
