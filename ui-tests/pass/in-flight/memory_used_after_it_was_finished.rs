//! Twin of `fail/in-flight/memory_used_after_it_was_finished.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    mut memory: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<Vec<f32>> {
    s.fill(&mut memory, 1.0)?;
    let at_rest = memory.release(s)?;
    at_rest.to_vec()
}
