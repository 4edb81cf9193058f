//! Twin of `fail/in-flight/memory_used_after_it_was_handed_over.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    let mut taken = memory.hand_over(a, b)?;
    b.fill(&mut taken, 2.0)?;
    a.fill(&mut taken.hand_over(b, a)?, 3.0)
}
