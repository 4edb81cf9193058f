//! Claim:   C6
//! Misuse:  divide a buffer into chunks in two ways, and write parts that overlap from two streams
//! In C:    two kernels write the same bytes
//! Real:    none known
//! rustc:   E0499
//! Reads:   the chunks are the buffer, lent; it can be divided anew when they are done with
//! Fix:     take both parts from one `chunks_mut`

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut chunks = buffer.as_mut_slice().chunks_mut(3)?;
    let parts = (chunks.next(), buffer.as_mut_slice().chunks_mut(2)?.nth(1)); // <-
    scope(|scope| {
        let (Some(first), Some(second)) = parts else {
            return Ok(());
        };
        scope.on(&streams[0], |s| s.fill(&mut first.lend(s), 1.0))?;
        scope.on(&streams[1], |s| s.fill(&mut second.lend(s), 2.0))
    })
}

fn main() {}
