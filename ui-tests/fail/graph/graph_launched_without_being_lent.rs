//! Claim:   C6
//! Misuse:  launch a graph that is not in the order of the stream
//! In C:    two launches on two streams, and copies of its memory beside them, in any order
//! Real:    none known
//! rustc:   E0599
//! Reads:   only a graph in the order of a stream has `launch`
//! Fix:     `graph.lend(s).launch(s)`

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    stream.scope(|s| graph.launch(s)) // <-
}

fn main() {}
