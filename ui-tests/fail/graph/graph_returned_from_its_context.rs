//! Claim:   C1
//! Misuse:  return a graph from `with_device`
//! In C:    the context that has the graph's memory may be gone
//! Real:    none known
//! rustc:   lifetime may not live long enough
//! Reads:   a graph carries the brand of its context
//! Fix:     launch it inside

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let graph = driver.with_device(0, |gpu| {
        let (graph, ()) = gpu.graph((), |_, ()| Ok(()))?;
        Ok(graph) // <-
    })?;
    let _graph = graph;
    Ok(())
}

fn main() {}
