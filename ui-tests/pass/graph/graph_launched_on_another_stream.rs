//! Twin of `fail/graph/graph_launched_on_another_stream.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    scope(|scope| {
        scope.on(&streams[0], |a| {
            scope.on(&streams[1], |b| {
                let graph = graph.lend(a);
                graph.hand_over(a, b)?.launch(b)
            })
        })
    })
}
