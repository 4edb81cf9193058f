//! Twin of `fail/mix/memory_of_one_gpu_filled_on_a_stream_of_another.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu1: &mut OnStream<'b, Buffer<'gpu1, f32>>,
) -> Result<()> {
    println!("{a:?} {b:?}");
    b.fill(on_gpu1, 0.0)
}
