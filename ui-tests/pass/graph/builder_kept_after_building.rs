//! Twin of `fail/graph/builder_kept_after_building.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let mut kept = None;
    let (graph, ()) = gpu.graph((), |g, ()| {
        kept = Some(g.join(&[])?);
        Ok(())
    })?;
    drop((graph, kept));
    Ok(())
}
