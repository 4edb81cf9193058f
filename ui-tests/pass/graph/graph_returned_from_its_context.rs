//! Twin of `fail/graph/graph_returned_from_its_context.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let graph = driver.with_device(0, |gpu| {
        let (graph, ()) = gpu.graph((), |_, ()| Ok(()))?;
        Ok(graph.len())
    })?;
    let _graph = graph;
    Ok(())
}
