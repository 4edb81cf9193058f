//! Twin of `fail/in-flight/buffer_read_at_rest_while_its_chunks_are_lent.rs`.

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>], buffer: &mut Buffer<'gpu, f32>) -> Result<Vec<f32>> {
    let chunks = buffer.as_mut_slice().chunks_mut(100)?;
    scope(|scope| {
        for (chunk, stream) in chunks.zip(streams) {
            scope.on(stream, |s| s.fill(&mut chunk.lend(s), 1.0))?;
        }
        Ok(())
    })?;
    buffer.to_vec()
}
