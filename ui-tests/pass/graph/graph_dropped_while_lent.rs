//! Twin of `fail/graph/graph_dropped_while_lent.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    let mut graph = graph;
    stream.scope(|s| {
        graph.lend(s).launch(s)?;
        Ok(())
    })
}
