//! Twin of `fail/types/memory_of_another_gpu_copied_as_near_memory.rs`.

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    far: &Buffer<'gpu0, f32>,
    near: &mut Buffer<'gpu1, f32>,
) -> Result<()> {
    let there = transfer.peer_slice(far)?;
    println!("{there:?}");
    transfer.copy(far, near)
}
