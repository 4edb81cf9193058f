//! Twin of `fail/in-flight/buffer_divided_twice.rs`.

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut chunks = buffer.as_mut_slice().chunks_mut(3)?;
    let parts = (chunks.next(), chunks.next());
    scope(|scope| {
        let (Some(first), Some(second)) = parts else {
            return Ok(());
        };
        scope.on(&streams[0], |s| s.fill(&mut first.lend(s), 1.0))?;
        scope.on(&streams[1], |s| s.fill(&mut second.lend(s), 2.0))
    })
}
