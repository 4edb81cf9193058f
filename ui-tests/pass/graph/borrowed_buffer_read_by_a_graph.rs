//! Twin of `fail/graph/borrowed_buffer_read_by_a_graph.rs`.

use scoped_cuda::{Buffer, Context, Graph, Result};

fn f<'gpu>(
    gpu: Context<'gpu>,
    own: Buffer<'gpu, f32>,
    other: &Buffer<'gpu, f32>,
) -> Result<Graph<'gpu, Buffer<'gpu, f32>>> {
    let (graph, _) = gpu.graph(own, |g, mut own| g.fill(&mut own, other.len() as f32))?;
    Ok(graph)
}
