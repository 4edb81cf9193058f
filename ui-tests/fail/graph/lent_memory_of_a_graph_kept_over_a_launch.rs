//! Claim:   C6
//! Misuse:  keep a handle to the memory of a graph while it is launched again
//! In C:    nothing wrong on one stream; a handle that outlives its turn can be given to another
//! Real:    none known
//! rustc:   E0499
//! Reads:   `lent_memory` borrows the lent graph
//! Fix:     ask for the memory again after the launch

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| {
        let mut graph = graph.lend(s);
        let mut memory = graph.lent_memory();
        graph.launch(s)?; // <-
        s.fill(&mut memory, 0.0)
    })
}

fn main() {}
