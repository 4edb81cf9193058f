//! Twin of `fail/graph/memory_of_a_graph_read_at_rest_while_lent.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| {
        graph.lend(s).launch(s)?;
        Ok(())
    })
}
