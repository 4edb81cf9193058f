//! Twin of `fail/in-flight/buffer_lent_twice.rs`.

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    scope(|scope| {
        let (head, tail) = buffer.as_mut_slice().split_at_mut(2)?;
        scope.on(&streams[0], |s| s.fill(&mut head.lend(s), 1.0))?;
        scope.on(&streams[1], |s| s.fill(&mut tail.lend(s), 2.0))
    })
}
