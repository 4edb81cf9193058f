//! Twin of `fail/in-flight/memory_of_one_stream_filled_on_another.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    b.fill(&mut memory.hand_over(a, b)?, 2.0)
}
