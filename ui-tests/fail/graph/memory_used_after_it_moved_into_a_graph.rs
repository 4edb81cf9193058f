//! Claim:   C11
//! Misuse:  use a buffer that a graph owns
//! In C:    a launch that is in flight writes it meanwhile
//! Real:    none known
//! rustc:   E0382
//! Reads:   the graph owns the buffer and gives it back at its end
//! Fix:     `graph.into_memory()`, or `graph.memory_mut()` between launches

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let buffer = gpu.zeros::<f32>(4)?;
    let (graph, _) = gpu.graph(buffer, |g, mut x| g.fill(&mut x, 1.0))?;
    let _ = buffer.to_vec()?; // <-
    drop(graph);
    Ok(())
}

fn main() {}
