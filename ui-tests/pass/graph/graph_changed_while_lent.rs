//! Twin of `fail/graph/graph_changed_while_lent.rs`.

use scoped_cuda::graph::Node;
use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    node: Node,
    graph: &mut Graph<'gpu, Buffer<'gpu, f32>>,
) -> Result<bool> {
    stream.scope(|s| graph.lend(s).launch(s))?;
    graph.is_enabled(node)
}
