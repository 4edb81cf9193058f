//! Claim:   C6
//! Misuse:  clone a buffer as if it were a `Vec`
//! In C:    a copy of a device pointer is the same memory, to be freed twice
//! Real:    none known
//! rustc:   there is a method `try_clone` with a similar name
//! Reads:   allocating and copying on the device can fail, so it is no `Clone`
//! Fix:     `try_clone()?`

use scoped_cuda::{Buffer, Result};

fn f<'gpu>(weights: Buffer<'gpu, f32>) -> Result<Buffer<'gpu, f32>> {
    let copy = weights.clone(); // <-
    Ok(copy)
}

fn main() {}
