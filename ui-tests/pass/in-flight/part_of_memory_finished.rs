//! Twin of `fail/in-flight/part_of_memory_finished.rs`.

use scoped_cuda::{OnStream, Result, ScopedStream, SliceMut};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, SliceMut<'scope, 'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    let (part, _rest) = memory.split_at_mut(2)?;
    b.fill(&mut part.release(a)?.lend(b), 2.0)
}
