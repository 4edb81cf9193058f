//! Graphs: the caller's time of a launch, and the time until the device is done, against graphs
//! that were built with driver calls.

#![allow(unsafe_code)] // the raw side, and kernels that touch nothing

use crate::measure::{Comparison, Plan, repeat};
use crate::operations::{Lab, elements};
use crate::raw::succeed;
use scoped_cuda::ffi::{
    CUDA_KERNEL_NODE_PARAMS, CUcontext, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUkernel,
    Symbols,
};
use scoped_cuda::{Graph, InOut, Kernel, LaunchConfig, Result};
use std::ffi::c_void;
use std::ptr;

/// How the kernels of a graph depend on each other.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Each on the one before.
    Chain(usize),
    /// So many chains side by side, each of so many.
    Branches(usize, usize),
}

impl Shape {
    fn chains(self) -> (usize, usize) {
        match self {
            Self::Chain(kernels) => (1, kernels),
            Self::Branches(chains, kernels) => (chains, kernels),
        }
    }
}

type Take1 = (InOut<f32>,);

/// A graph with edges by hand. It lives as long as the process.
struct Raw<'a> {
    symbols: &'a Symbols,
    exec: CUgraphExec,
}

impl<'a> Raw<'a> {
    fn new(lab: &Lab<'a>, kernel: &Kernel<'_, Take1>, shape: Shape) -> Result<Self> {
        let symbols = lab.symbols;
        let memory = lab.ctx.zeros::<f32>(elements())?;
        let mut address = memory.as_raw();
        // The kernels touch nothing, so that the memory may go before the graph.
        let mut pointers = [ptr::from_mut(&mut address).cast()];
        let parameters = parameters(kernel.as_raw(), &mut pointers);
        let (mut graph, mut exec) = (CUgraph::NULL, CUgraphExec::NULL);
        // SAFETY: the out-pointer is valid for the call.
        succeed(unsafe { (symbols.cuGraphCreate)(&raw mut graph, 0) })?;
        let (chains, kernels) = shape.chains();
        for _ in 0..chains {
            let mut last: Option<CUgraphNode> = None;
            for _ in 0..kernels {
                let (mut node, after) = (CUgraphNode::NULL, last.as_slice());
                // SAFETY: graph, node and function are live, and there is a pointer for the one
                // parameter; the driver copies its value.
                succeed(unsafe {
                    (symbols.cuGraphAddKernelNode)(
                        &raw mut node,
                        graph,
                        after.as_ptr(),
                        after.len(),
                        &raw const parameters,
                    )
                })?;
                last = Some(node);
            }
        }
        // SAFETY: the graph is live.
        succeed(unsafe { (symbols.cuGraphInstantiateWithFlags)(&raw mut exec, graph, 0) })?;
        Ok(Self { symbols, exec })
    }
}

fn parameters(function: CUfunction, pointers: &mut [*mut c_void; 1]) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: 4,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 256,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: CUkernel::NULL,
        ctx: CUcontext::NULL,
    }
}

/// The same with edges that are found.
fn graph<'ctx>(
    lab: &Lab<'ctx>,
    kernel: &Kernel<'ctx, Take1>,
    shape: Shape,
) -> Result<Graph<'ctx, Vec<scoped_cuda::Buffer<'ctx, f32>>>> {
    let (chains, kernels) = shape.chains();
    let memory: Result<Vec<_>> = (0..chains).map(|_| lab.ctx.zeros(elements())).collect();
    let (graph, ()) = lab.ctx.graph(memory?, |g, mut memory| {
        let config = LaunchConfig::new([4, 1, 1], [256, 1, 1]);
        for memory in &mut memory {
            for _ in 0..kernels {
                // SAFETY: the kernel touches nothing.
                unsafe { g.launch(kernel, config, (&mut *memory,)) }?;
            }
        }
        Ok(())
    })?;
    Ok(graph)
}

/// The caller's time of a launch; neither side's wait is measured.
pub(crate) fn launch(lab: &Lab<'_>, plan: Plan, shape: Shape) -> Result<Comparison> {
    let kernel = lab.module.kernel::<Take1>("take1")?;
    let (raw, mut ours) = (Raw::new(lab, &kernel, shape)?, graph(lab, &kernel, shape)?);
    let stream = lab.stream.as_raw();
    // SAFETY: exec and stream are live.
    let launch = || succeed(unsafe { (raw.symbols.cuGraphLaunch)(raw.exec, stream) });
    plan.compare(
        |n| lab.queue(n, launch),
        |n| {
            lab.stream.scope(|s| {
                let mut graph = ours.lend(s);
                repeat(n, || graph.launch(s))
            })
        },
    )
}

/// A launch and a wait for it: the device's time, for many kernels.
pub(crate) fn replay(lab: &Lab<'_>, plan: Plan, shape: Shape) -> Result<Comparison> {
    let kernel = lab.module.kernel::<Take1>("take1")?;
    let (raw, mut ours) = (Raw::new(lab, &kernel, shape)?, graph(lab, &kernel, shape)?);
    let (symbols, stream) = (raw.symbols, lab.stream.as_raw());
    let replay = || {
        // SAFETY: exec and stream are live.
        succeed(unsafe { (symbols.cuGraphLaunch)(raw.exec, stream) })?;
        // SAFETY: the stream is live.
        succeed(unsafe { (symbols.cuStreamSynchronize)(stream) })
    };
    plan.compare(
        |n| repeat(n, replay),
        |n| repeat(n, || lab.stream.scope(|s| ours.lend(s).launch(s))),
    )
}
