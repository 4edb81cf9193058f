//! Claim:   C2, C8
//! Misuse:  copy between the devices of two nested `with_device` without a transfer
//! In C:    with pool memory and no current context the driver itself crashes; with one current the answer is
//!          CUDA_ERROR_INVALID_VALUE, unless the pool was opened to the other device (measured on two H200, CUDA 13.0)
//! Real:    chelsea0x3b/cudarc#561
//! rustc:   `gpu1` escapes the closure body here
//! Reads:   between closures the lifetimes have no names, and what is meant as "`gpu0` and `gpu1` are two contexts" comes out as an
//!          escape; the first error has the right line, the second blames the line that made the other buffer
//! Fix:     `gpu0.transfer_to(gpu1)?.copy(&source, &mut destination)`; a named function with `<'gpu0, 'gpu1>` says it better

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu0| {
        let source = gpu0.upload(&[1.0f32, 2.0])?;
        driver.with_device(1, |gpu1| {
            let mut destination = gpu1.zeros::<f32>(2)?;
            destination.copy_from(&source) // <-
        })
    })
}

fn main() {}
