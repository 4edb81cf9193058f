//! Claim:   C6
//! Misuse:  launch a graph on another stream than the one in whose order it is
//! In C:    the launch does not wait for what the first stream does with its memory
//! Real:    none known
//! rustc:   E0521
//! Reads:   the two streams of the scope have two brands, and the graph has the first one
//! Fix:     `hand_over` the graph, or launch it on its own stream

use scoped_cuda::{Buffer, Graph, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    scope(|scope| {
        scope.on(&streams[0], |a| {
            scope.on(&streams[1], |b| {
                let mut graph = graph.lend(a);
                graph.launch(b) // <-
            })
        })
    })
}

fn main() {}
