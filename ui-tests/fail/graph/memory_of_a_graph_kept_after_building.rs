//! Claim:   C11
//! Misuse:  keep the memory that the building closure was given
//! In C:    two owners of one piece of memory, of which one does not know that launches are in flight
//! Real:    none known
//! rustc:   borrowed data escapes
//! Reads:   the memory is lent to the closure for the time of building
//! Fix:     `graph.memory_mut()` between launches

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let mut kept = None;
    let (graph, ()) = gpu.graph(gpu.zeros::<f32>(4)?, |g, mut x| {
        g.fill(&mut x, 1.0)?;
        kept = Some(x); // <-
        Ok(())
    })?;
    drop((graph, kept));
    Ok(())
}

fn main() {}
