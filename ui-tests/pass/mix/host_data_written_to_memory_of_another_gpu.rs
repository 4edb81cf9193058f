//! Twin of `fail/mix/host_data_written_to_memory_of_another_gpu.rs`.

use scoped_cuda::{OnStream, Result, ScopedStream, SliceMut};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu1: &mut OnStream<'b, SliceMut<'scope, 'gpu1, f32>>,
    host: &'scope [f32],
) -> Result<()> {
    println!("{a:?} {b:?}");
    b.write(host, on_gpu1)
}
