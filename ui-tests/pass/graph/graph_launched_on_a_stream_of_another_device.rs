//! Twin of `fail/graph/graph_launched_on_a_stream_of_another_device.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu0, 'gpu1>(
    streams: (&Stream<'gpu0>, &Stream<'gpu1>),
    graph: &mut Graph<'gpu0, Buffer<'gpu0, f32>>,
) -> Result<()> {
    streams.0.scope(|s| graph.lend(s).launch(s))
}
