//! Claim:   C2, C8
//! Misuse:  mix memory of the two contexts that one call gave
//! In C:    with pool memory a copy as if on one device is CUDA_ERROR_INVALID_VALUE, or not, according to which context is current
//!          (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   has type `scoped_cuda::Context<'2>`
//! Reads:   the two contexts come from one call and have two names all the same, in a closure `'1` and `'2`; rustc blames the lines that
//!          made the two buffers and not the one that mixes them, `copy_from`
//! Fix:     copy with `gpu0.transfer_to(gpu1)`

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_two_devices([0, 1], |gpu0, gpu1| {
        let far = gpu0.zeros::<f32>(4)?;
        let mut near = gpu1.zeros::<f32>(4)?; // <-
        near.copy_from(&far)
    })
}

fn main() {}
