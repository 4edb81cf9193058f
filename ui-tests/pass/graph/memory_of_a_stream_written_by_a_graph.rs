//! Twin of `fail/graph/memory_of_a_stream_written_by_a_graph.rs`.

use scoped_cuda::{Buffer, Context, Result, Stream};

fn f<'gpu>(
    gpu: Context<'gpu>,
    stream: &Stream<'gpu>,
    buffer: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let mut lent = buffer.lend(s);
        s.fill(&mut lent, 0.0)?;
        gpu.graph((), |g, ()| g.join(&[]))?;
        Ok(())
    })
}
