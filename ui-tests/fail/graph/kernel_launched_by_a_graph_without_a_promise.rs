//! Claim:   C12
//! Misuse:  add the launch of a kernel for which nobody has vouched
//! In C:    what the kernel touches, nobody checks
//! Real:    none known
//! rustc:   E0133
//! Reads:   the kernel is machine code; that it stays in its arguments is a promise
//! Fix:     `unsafe`, or a `SafeKernel`

use scoped_cuda::{Buffer, Context, Graph, InOut, Kernel, LaunchConfig, Result};

fn f<'gpu>(
    gpu: Context<'gpu>,
    kernel: &Kernel<'gpu, (InOut<f32>,)>,
    buffer: Buffer<'gpu, f32>,
) -> Result<Graph<'gpu, Buffer<'gpu, f32>>> {
    let config = LaunchConfig::for_elements(4);
    let (graph, _) = gpu.graph(buffer, |g, mut x| g.launch(kernel, config, (&mut x,)))?; // <-
    Ok(graph)
}

fn main() {}
