//! Claim:   C2, C8
//! Misuse:  copy from `'gpu1` to `'gpu0` with a transfer from `'gpu0` to `'gpu1`
//! In C:    peer access has a direction: enabled from A to B it does not work from B to A (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   in `Transfer<'src, 'dst>` the first name is where the bytes come from; here they are exchanged
//! Fix:     exchange the buffers, or make the other transfer, `gpu1.transfer_to(gpu0)`

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    on_gpu0: &mut Buffer<'gpu0, f32>,
    on_gpu1: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    transfer.copy(on_gpu1, on_gpu0) // <-
}

fn main() {}
