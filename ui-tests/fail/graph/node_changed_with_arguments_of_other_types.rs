//! Claim:   C12
//! Misuse:  change a node with a value of another type than its kernel has
//! In C:    the driver reads as many bytes as the kernel declares, past the end of the value
//! Real:    none known
//! rustc:   is not an argument for a kernel parameter `u32`
//! Reads:   the node has the parameter list of its kernel
//! Fix:     a `u32`

use scoped_cuda::graph::KernelNode;
use scoped_cuda::{Buffer, Graph, InOut, LaunchConfig, Result, SafeKernel};

fn f<'gpu>(
    graph: &mut Graph<'gpu, Buffer<'gpu, f32>>,
    kernel: &SafeKernel<'gpu, (InOut<f32>, u32)>,
    node: KernelNode<(InOut<f32>, u32)>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(4);
    graph.change(|change, mut x| kernel.change_in(change, node, config, (&mut x, 4.0))) // <-
}

fn main() {}
