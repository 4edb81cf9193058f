//! Claim:   C11
//! Misuse:  let a graph read a buffer that it does not own
//! In C:    the graph keeps the address of memory that may be freed before a launch: CUDA_ERROR_ILLEGAL_ADDRESS
//! Real:    huggingface/candle#3352
//! rustc:   E0621
//! Reads:   the graph would keep the buffer's address for longer than it is borrowed
//! Fix:     move the buffer into the graph

use scoped_cuda::{Buffer, Context, Graph, Result};

fn f<'gpu>(
    gpu: Context<'gpu>,
    own: Buffer<'gpu, f32>,
    other: &Buffer<'gpu, f32>,
) -> Result<Graph<'gpu, Buffer<'gpu, f32>>> {
    let (graph, _) = gpu.graph(own, |g, mut own| g.copy(other, &mut own))?; // <-
    Ok(graph)
}

fn main() {}
