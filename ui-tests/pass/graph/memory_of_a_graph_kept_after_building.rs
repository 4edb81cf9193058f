//! Twin of `fail/graph/memory_of_a_graph_kept_after_building.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let mut kept = None;
    let (graph, ()) = gpu.graph(gpu.zeros::<f32>(4)?, |g, mut x| {
        g.fill(&mut x, 1.0)?;
        kept = Some(x.len());
        Ok(())
    })?;
    drop((graph, kept));
    Ok(())
}
