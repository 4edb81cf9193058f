//! Twin of `fail/graph/lent_memory_of_a_graph_kept_over_a_launch.rs`.

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| {
        let mut graph = graph.lend(s);
        let mut memory = graph.lent_memory();
        s.fill(&mut memory, 0.0)
    })
}
