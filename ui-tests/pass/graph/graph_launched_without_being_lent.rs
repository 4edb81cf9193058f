//! Twin of `fail/graph/graph_launched_without_being_lent.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| graph.lend(s).launch(s))
}
