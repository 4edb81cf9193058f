//! Twin of `fail/in-flight/memory_finished_on_another_stream.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<Buffer<'gpu, f32>> {
    a.fill(&mut memory, 1.0)?;
    memory.hand_over(a, b)?.release(b)
}
