//! Twin of `fail/mix/memory_of_another_gpu_lent_to_a_stream.rs`.

use scoped_cuda::{Buffer, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    buffer0: &'scope mut Buffer<'gpu0, f32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let memory = buffer0.lend(on_gpu0);
    println!("{memory:?}");
    Ok(())
}
