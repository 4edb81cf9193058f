//! Twin of `fail/mix/transfer_used_in_the_other_direction.rs`.

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    on_gpu0: &mut Buffer<'gpu0, f32>,
    on_gpu1: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    transfer.copy(on_gpu0, on_gpu1)
}
