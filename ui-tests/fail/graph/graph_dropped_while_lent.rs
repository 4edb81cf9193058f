//! Claim:   C11
//! Misuse:  free a graph and its memory while a launch is in flight
//! In C:    the driver lets the launch run on, in freed memory: CUDA_ERROR_ILLEGAL_ADDRESS, which ends the process's use of CUDA
//! Real:    huggingface/candle#3352
//! rustc:   E0505
//! Reads:   `lend` borrows the graph until the end of the scope
//! Fix:     drop the graph after the scope

use scoped_cuda::{Buffer, Graph, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, graph: Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    let mut graph = graph;
    stream.scope(|s| {
        graph.lend(s).launch(s)?;
        drop(graph); // <-
        Ok(())
    })
}

fn main() {}
