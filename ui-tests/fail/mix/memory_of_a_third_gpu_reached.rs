//! Claim:   C2, C8
//! Misuse:  reach memory of a device that the transfer is not about
//! In C:    without peer access the kernel faults, and CUDA_ERROR_ILLEGAL_ADDRESS is all that any device of the process answers
//!          from then on (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu2` must be the same
//! Reads:   the transfer opened memory of `'gpu0`, the buffer is of `'gpu2`
//! Fix:     use the transfer from that device

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1, 'gpu2>(
    zero_to_one: Transfer<'gpu0, 'gpu1>,
    two_to_one: Transfer<'gpu2, 'gpu1>,
    on_gpu2: &Buffer<'gpu2, f32>,
) -> Result<()> {
    println!("{zero_to_one:?} {two_to_one:?}");
    let there = zero_to_one.peer_slice(on_gpu2)?; // <-
    println!("{there:?}");
    Ok(())
}

fn main() {}
