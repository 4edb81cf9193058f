//! Claim:   C2
//! Misuse:  launch a graph on a stream of another device
//! In C:    CUDA_ERROR_INVALID_VALUE or INVALID_HANDLE, at run time
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the graph is of one context and the stream of another
//! Fix:     a stream of the graph's context

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu0, 'gpu1>(
    streams: (&Stream<'gpu0>, &Stream<'gpu1>),
    graph: &mut Graph<'gpu0, Buffer<'gpu0, f32>>,
) -> Result<()> {
    streams.1.scope(|s| graph.lend(s).launch(s)) // <-
}

fn main() {}
