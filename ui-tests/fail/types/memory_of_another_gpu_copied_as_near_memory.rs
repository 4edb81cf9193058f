//! Claim:   C8, C12
//! Misuse:  copy from memory of another device as from memory of one's own, since kernels reach it
//! In C:    the copy works when one context is current and is CUDA_ERROR_INVALID_VALUE when the other is (measured on two H200,
//!          CUDA 13.0)
//! Real:    none known
//! rustc:   `PeerSlice<'_, '_, f32>` is not device memory of `f32`
//! Reads:   what was reached is for kernels; a copy names both contexts
//! Fix:     `transfer.copy(far, near)`

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    far: &Buffer<'gpu0, f32>,
    near: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    let there = transfer.peer_slice(far)?;
    println!("{there:?}");
    near.copy_from(&there) // <-
}

fn main() {}
