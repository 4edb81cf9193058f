//! Claim:   C11
//! Misuse:  read the memory of a graph at rest while a launch is in flight
//! In C:    stale data, or half of the new
//! Real:    none known
//! rustc:   E0499
//! Reads:   the graph is lent until the scope has waited
//! Fix:     `s.read(&graph.lent_memory(), ..)` in the stream's order, or after the scope

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| {
        graph.lend(s).launch(s)?;
        let _ = graph.memory_mut().as_slice().to_vec()?; // <-
        Ok(())
    })
}

fn main() {}
