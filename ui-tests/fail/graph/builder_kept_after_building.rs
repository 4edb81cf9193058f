//! Claim:   C11
//! Misuse:  keep the builder and add nodes to a graph that is finished
//! In C:    the node is in the graph and not in what is launched
//! Real:    none known
//! rustc:   borrowed data escapes
//! Reads:   the builder lives for the time of building
//! Fix:     add all nodes in the closure

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let mut kept = None;
    let (graph, ()) = gpu.graph((), |g, ()| {
        kept = Some(g); // <-
        Ok(())
    })?;
    drop((graph, kept));
    Ok(())
}

fn main() {}
