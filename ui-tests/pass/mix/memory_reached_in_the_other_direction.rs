//! Twin of `fail/mix/memory_reached_in_the_other_direction.rs`.

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    on_gpu0: &Buffer<'gpu0, f32>,
    on_gpu1: &Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let there = transfer.peer_slice(on_gpu0)?;
    println!("{there:?}");
    Ok(())
}
