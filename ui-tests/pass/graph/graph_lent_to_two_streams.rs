//! Twin of `fail/graph/graph_lent_to_two_streams.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    scope(|scope| scope.on(&streams[0], |s| graph.lend(s).launch(s)))
}
