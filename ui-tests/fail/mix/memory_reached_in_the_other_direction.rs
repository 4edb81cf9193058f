//! Claim:   C2, C8
//! Misuse:  reach memory of `'gpu1` with a transfer from `'gpu0` to `'gpu1`
//! In C:    peer access has a direction: enabled from A to B it does not work from B to A (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   in `Transfer<'src, 'dst>` the first name is the memory's, the second that of the kernels
//! Fix:     make the other transfer, `Transfer::direct(gpu1, gpu0)`

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    on_gpu0: &Buffer<'gpu0, f32>,
    on_gpu1: &Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let there = transfer.peer_slice(on_gpu1)?; // <-
    println!("{there:?}");
    Ok(())
}

fn main() {}
