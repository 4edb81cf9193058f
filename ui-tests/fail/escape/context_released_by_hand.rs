//! Claim:   C1
//! Misuse:  release the context while something of it is alive
//! In C:    the release succeeds and takes memory, streams and modules with it; releasing once more than was retained is
//!          CUDA_ERROR_INVALID_CONTEXT (measured on an H200, CUDA 13.0)
//! Real:    bheisler/RustaCUDA#35, numba/numba#5558
//! rustc:   no method named `release` found
//! Reads:   there is nothing to call: the release belongs to `with_device`, after the closure
//! Fix:     leave the closure

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let buffer = gpu.zeros::<f32>(4)?;
        gpu.release()?; // <-
        drop(buffer);
        Ok(())
    })
}

fn main() {}
