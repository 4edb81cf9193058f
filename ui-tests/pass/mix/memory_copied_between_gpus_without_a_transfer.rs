//! Twin of `fail/mix/memory_copied_between_gpus_without_a_transfer.rs`.

use scoped_cuda::{Buffer, Context, Result};

fn f<'gpu0, 'gpu1>(
    (gpu0, gpu1): (Context<'gpu0>, Context<'gpu1>),
    source: &Buffer<'gpu0, f32>,
    destination: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{gpu0:?} to {gpu1:?}");
    gpu0.transfer_to(gpu1)?.copy(source, destination)
}
