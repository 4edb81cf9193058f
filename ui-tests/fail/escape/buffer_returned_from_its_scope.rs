//! Claim:   C1
//! Misuse:  use a buffer after the context it was made in has ended
//! In C:    after the last release of the primary context the old pointer is refused with CUDA_ERROR_INVALID_VALUE, and
//!          synchronising an old stream ends in a segmentation fault about every second time (measured on an H200, CUDA 13.0)
//! Real:    chelsea0x3b/cudarc#160
//! rustc:   returning this value requires that `'1` must outlive `'2`
//! Reads:   `'1` is the context's lifetime, which ends with the closure; `'2` is that of the value you want to have afterwards
//! Fix:     return what the host needs, `buffer.to_vec()`, or do the rest of the work inside the closure

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let squares = driver.with_device(0, |gpu| {
        let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
        Ok(buffer) // <-
    })?;
    println!("{squares:?}");
    Ok(())
}

fn main() {}
