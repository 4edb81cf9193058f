//! Twin of `fail/mix/memory_taken_from_a_stream_of_another_gpu.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream, Transfer};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu0: OnStream<'a, Buffer<'gpu0, f32>>,
) -> Result<()> {
    let mut on_gpu1 = b.zeros(on_gpu0.len())?;
    transfer.enqueue(a, &on_gpu0, b, &mut on_gpu1)?;
    println!("{transfer:?}");
    b.fill(&mut on_gpu1.slice_mut(..1)?, 0.0)
}
