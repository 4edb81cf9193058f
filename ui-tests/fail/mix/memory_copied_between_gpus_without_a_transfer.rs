//! Claim:   C2, C8
//! Misuse:  copy from a buffer of one device to a buffer of another as if they were on the same
//! In C:    with pool memory and no current context the driver itself crashes; with one current the answer is
//!          CUDA_ERROR_INVALID_VALUE, unless the pool was opened to the other device (measured on two H200, CUDA 13.0)
//! Real:    chelsea0x3b/cudarc#561
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   each context has a lifetime of its own as its name, and `copy_from` wants one name on both sides; the help cannot be
//!          followed, for no two contexts have the same
//! Fix:     `gpu0.transfer_to(gpu1)?.copy(&source, &mut destination)`

use scoped_cuda::{Buffer, Context, Result};

fn f<'gpu0, 'gpu1>(
    (gpu0, gpu1): (Context<'gpu0>, Context<'gpu1>),
    source: &Buffer<'gpu0, f32>,
    destination: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{gpu0:?} to {gpu1:?}");
    destination.copy_from(source) // <-
}

fn main() {}
