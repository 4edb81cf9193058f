//! Twin of `fail/graph/kernel_launched_by_a_graph_without_a_promise.rs`.

use scoped_cuda::{Buffer, Context, Graph, InOut, Kernel, LaunchConfig, Result};

fn f<'gpu>(
    gpu: Context<'gpu>,
    kernel: &Kernel<'gpu, (InOut<f32>,)>,
    buffer: Buffer<'gpu, f32>,
) -> Result<Graph<'gpu, Buffer<'gpu, f32>>> {
    let config = LaunchConfig::for_elements(4);
    let (graph, _) = gpu.graph(buffer, |g, mut x| {
        // SAFETY: the kernel writes the first 4 elements.
        unsafe { g.launch(kernel, config, (&mut x,)) }
    })?;
    Ok(graph)
}
