//! Twin of `fail/mix/memory_of_another_gpu_read_on_a_stream.rs`.

use scoped_cuda::{Buffer, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    buffer0: &'scope Buffer<'gpu0, f32>,
    host: &'scope mut [f32],
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    on_gpu0.read(buffer0, host)
}
