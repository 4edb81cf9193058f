//! Claim:   C11
//! Misuse:  let a graph write memory that is lent to a stream
//! In C:    the graph keeps the address after the scope has given the memory back
//! Real:    none known
//! rustc:   E0521
//! Reads:   the memory has the brand of the stream and not that of the graph
//! Fix:     move the buffer into the graph

use scoped_cuda::{Buffer, Context, Result, Stream};

fn f<'gpu>(
    gpu: Context<'gpu>,
    stream: &Stream<'gpu>,
    buffer: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let mut lent = buffer.lend(s);
        s.fill(&mut lent, 0.0)?;
        gpu.graph((), |g, ()| g.fill(&mut lent, 1.0))?; // <-
        Ok(())
    })
}

fn main() {}
