//! Claim:   C6
//! Misuse:  read a buffer while streams write its chunks
//! In C:    the bytes are partly the old ones and partly the new ones
//! Real:    none known
//! rustc:   E0502
//! Reads:   the chunks are the buffer, lent until the scope has waited
//! Fix:     read it after the scope

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>], buffer: &mut Buffer<'gpu, f32>) -> Result<Vec<f32>> {
    let chunks = buffer.as_mut_slice().chunks_mut(100)?;
    scope(|scope| {
        for (chunk, stream) in chunks.zip(streams) {
            scope.on(stream, |s| s.fill(&mut chunk.lend(s), 1.0))?;
        }
        buffer.to_vec() // <-
    })
}

fn main() {}
