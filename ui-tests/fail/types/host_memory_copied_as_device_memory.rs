//! Claim:   C12
//! Misuse:  copy from host memory with the function for device memory
//! In C:    every copy takes two addresses, and the wrong direction is a wrong result or CUDA_ERROR_INVALID_VALUE
//! Real:    none known
//! rustc:   `Vec<f32>` is not device memory of `f32`
//! Reads:   `copy_from` stays on the device; the types listed are the ones that it takes
//! Fix:     `write` for host memory

use scoped_cuda::{Buffer, Result};

fn f(buffer: &mut Buffer<'_, f32>, host: Vec<f32>) -> Result<()> {
    buffer.copy_from(&host) // <-
}

fn main() {}
