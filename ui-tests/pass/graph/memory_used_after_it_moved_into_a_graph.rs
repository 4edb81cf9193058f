//! Twin of `fail/graph/memory_used_after_it_moved_into_a_graph.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let buffer = gpu.zeros::<f32>(4)?;
    let (graph, _) = gpu.graph(buffer, |g, mut x| g.fill(&mut x, 1.0))?;
    drop(graph);
    Ok(())
}
