//! Claim:   C12
//! Misuse:  declare that launches are safe, and promise nothing
//! In C:    every call is like that
//! Real:    none known
//! rustc:   `safe fn saxpy` promises that its launches are safe when what follows holds: write `unsafe extern`
//! Reads:   somebody has to promise that the preconditions suffice
//! Fix:     `unsafe extern`, with the reason

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" { // <-
        safe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32) when {
            "n is at most the length of both": n as usize <= x.min(y),
        };
    }
}

fn main() {}
