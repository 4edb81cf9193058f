//! Claim:   C6
//! Misuse:  clone a buffer as if it were a `Vec`
//! In C:    a copy of a device pointer is the same memory, to be freed twice
//! Real:    none known
//! rustc:   no method named `clone` found for struct `Buffer<'ctx, T>`
//! Reads:   a copy on the device can fail, so it is no `Clone`; do not take the help, `close` frees the buffer
//! Fix:     `try_clone()?`

use scoped_cuda::{Buffer, Result};

fn f<'gpu>(weights: Buffer<'gpu, f32>) -> Result<Buffer<'gpu, f32>> {
    let copy = weights.clone(); // <-
    Ok(copy)
}

fn main() {}
