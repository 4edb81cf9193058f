//! Claim:   C11
//! Misuse:  change a node while a launch is in flight
//! In C:    the change is for the next launch, and the module that only the old one needs may be unloaded
//! Real:    none known
//! rustc:   E0499
//! Reads:   the graph is lent until the scope has waited
//! Fix:     change it between scopes

use scoped_cuda::graph::Node;
use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    node: Node,
    graph: &mut Graph<'gpu, Buffer<'gpu, f32>>,
) -> Result<bool> {
    stream.scope(|s| {
        graph.lend(s).launch(s)?;
        graph.set_enabled(node, false) // <-
    })?;
    graph.is_enabled(node)
}

fn main() {}
