//! Twin of `fail/mix/transfer_used_with_a_third_gpu.rs`.

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1, 'gpu2>(
    zero_to_one: Transfer<'gpu0, 'gpu1>,
    one_to_two: Transfer<'gpu1, 'gpu2>,
    on_gpu0: &Buffer<'gpu0, f32>,
    on_gpu1: &mut Buffer<'gpu1, f32>,
    on_gpu2: &mut Buffer<'gpu2, f32>,
) -> Result<()> {
    zero_to_one.copy(on_gpu0, on_gpu1)?;
    one_to_two.copy(on_gpu1, on_gpu2)
}
