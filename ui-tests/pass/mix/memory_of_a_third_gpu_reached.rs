//! Twin of `fail/mix/memory_of_a_third_gpu_reached.rs`.

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1, 'gpu2>(
    zero_to_one: Transfer<'gpu0, 'gpu1>,
    two_to_one: Transfer<'gpu2, 'gpu1>,
    on_gpu2: &Buffer<'gpu2, f32>,
) -> Result<()> {
    println!("{zero_to_one:?} {two_to_one:?}");
    let there = two_to_one.peer_slice(on_gpu2)?;
    println!("{there:?}");
    Ok(())
}
