//! Twin of `fail/graph/node_changed_with_arguments_of_other_types.rs`.

use scoped_cuda::graph::KernelNode;
use scoped_cuda::{Buffer, Graph, InOut, LaunchConfig, Result, SafeKernel};

fn f<'gpu>(
    graph: &mut Graph<'gpu, Buffer<'gpu, f32>>,
    kernel: &SafeKernel<'gpu, (InOut<f32>, u32)>,
    node: KernelNode<(InOut<f32>, u32)>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(4);
    graph.change(|change, mut x| kernel.change_in(change, node, config, (&mut x, 4)))
}
