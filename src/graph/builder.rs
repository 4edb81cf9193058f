//! Building a graph node by node.

#![allow(unsafe_code)] // adds nodes with addresses

use super::memory::{GraphMemory, GraphPinned};
use super::node::{KernelNode, Node};
use super::recorder::{Recorder, Work, kernel_parameters};
use super::{Graph, Launchable};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{
    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUarray,
    CUmemorytype,
};
use crate::internal::calls;
use crate::kernel::{Args, Kernel, LaunchConfig, Params, SafeKernel, Use};
use crate::memory::sealed::Token;
use crate::memory::{Fill, MemoryMut, OnStream, Pattern, Readable, same_len};
use bytemuck::Pod;
use generativity::{Id, make_guard};
use std::ffi::c_void;
use std::fmt;
use std::ptr;

impl<'ctx> Context<'ctx> {
    /// Builds a graph that owns `memory` (`cuGraphCreate`, `cuGraphInstantiateWithFlags`).
    ///
    /// `build` is given the memory in the order of the graph, and adds nodes with the methods of
    /// [`GraphBuilder`]. What it returns comes back beside the graph: nodes that are to be changed
    /// later.
    ///
    /// # Errors
    /// Those of `build`, or what the driver returns. The memory is freed then.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (a, b) = (ctx.upload(&[1u32, 2, 3])?, ctx.zeros::<u32>(3)?);
    /// let (mut graph, ()) = ctx.graph((a, b), |g, (mut a, mut b)| {
    ///     g.copy(&a, &mut b)?;
    ///     g.fill(&mut a, 7)?; // after the copy, which reads `a`
    ///     Ok(())
    /// })?;
    /// let stream = ctx.new_stream()?;
    /// stream.scope(|s| graph.lend(s).launch(s))?;
    /// let (a, b) = graph.into_memory();
    /// assert_eq!((a.to_vec()?, b.to_vec()?), (vec![7; 3], vec![1, 2, 3]));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuGraphCreate")]
    #[doc(alias = "cuGraphInstantiateWithFlags")]
    pub fn graph<M: GraphMemory<'ctx>, R>(
        self,
        memory: M,
        build: impl for<'g> FnOnce(GraphBuilder<'g, 'ctx>, M::Lent<'g, 'g>) -> Result<R>,
    ) -> Result<(Graph<'ctx, M>, R)> {
        let mut memory = memory;
        let recorder = Recorder::new(self)?;
        let result = {
            make_guard!(guard);
            let brand: Id<'_> = guard.into();
            let builder = GraphBuilder {
                recorder: &recorder,
                _brand: brand,
                after: None,
            };
            // SAFETY: a local that nobody touches before the brand, and with it `'g`, ends with
            // this block.
            build(builder, unsafe { memory.lent(brand, Token) })
        }?;
        let graph = Graph::new(Launchable::new(recorder)?, memory);
        Ok((graph, result))
    }
}

/// Permission to add nodes to a graph. `Copy`, like a [`ScopedStream`](crate::ScopedStream), and
/// with the same words.
///
/// The order of the calls means what it means on a stream. From what each node reads and writes the
/// builder finds the nodes that it has to wait for: a read waits for the last write, a write for
/// the reads and the write before, and nothing else. Nodes that need not wait for each other run
/// side by side.
#[derive(Clone, Copy)]
pub struct GraphBuilder<'g, 'ctx> {
    recorder: &'g Recorder<'ctx>,
    _brand: Id<'g>,
    after: Option<Node>,
}

impl<'g, 'ctx> GraphBuilder<'g, 'ctx> {
    /// The context of the graph.
    #[must_use]
    pub fn context(self) -> Context<'ctx> {
        self.recorder.graph.context
    }

    /// A builder whose nodes wait for `node` too: for what memory does not show.
    #[must_use]
    pub fn after(self, node: impl Into<Node>) -> Self {
        Self {
            after: Some(node.into()),
            ..self
        }
    }

    /// Adds a node that does nothing, and waits for all of `nodes` (`cuGraphAddEmptyNode`).
    ///
    /// # Errors
    /// [`Error::Graph`] for a node of another graph, or what the driver returns.
    #[doc(alias = "cuGraphAddEmptyNode")]
    pub fn join(self, nodes: &[Node]) -> Result<Node> {
        let told: Vec<Node> = self
            .after
            .into_iter()
            .chain(nodes.iter().copied())
            .collect();
        self.nothing(&told, "join")
    }

    fn nothing(self, told: &[Node], name: &str) -> Result<Node> {
        let (driver, work) = (self.context().api(), (Work::Nothing, name.to_owned()));
        self.recorder
            .add(told, Vec::new(), work, None, |graph, after| {
                // SAFETY: the graph and its nodes are live.
                unsafe { calls::graph_add_empty_node(driver, graph, after) }
            })
    }

    fn told(&self) -> &[Node] {
        self.after.as_slice()
    }

    /// Adds a launch of `kernel` (`cuGraphAddKernelNode`). The arguments are those of a launch
    /// [on a stream](crate::ScopedStream::launch). The kernel's module stays loaded as long as the
    /// graph lives. An empty problem makes a node that does nothing, and stays so.
    ///
    /// # Errors
    /// Those of a launch on a stream; [`Error::Graph`] for a launch that is more than a grid: a
    /// cooperative one, one with clusters or a priority, or one that overlaps the one before.
    ///
    /// # Safety
    /// As [`ScopedStream::launch`](crate::ScopedStream::launch), at each launch of the graph.
    #[doc(alias = "cuGraphAddKernelNode")]
    pub unsafe fn launch<P: Params, A: Args<'g, 'g, 'ctx, P>>(
        self,
        kernel: &Kernel<'ctx, P>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<KernelNode<P>> {
        let Some(grid) = grid_of(kernel, &config)? else {
            return self
                .nothing(self.told(), kernel.name())
                .map(KernelNode::new);
        };
        let uses = uses_of(&arguments);
        let (driver, function) = (self.context().api(), kernel.as_raw());
        let node = arguments.with_pointers(Token, &config, |pointers| {
            let parameters = kernel_parameters(function, grid, &config, pointers);
            let work = (Work::Kernel, kernel.name().to_owned());
            let loaded = Some(kernel.keep());
            self.recorder
                .add(self.told(), uses, work, loaded, |graph, after| {
                    // SAFETY: graph, nodes and function are live and of one context (equal brands,
                    // C2), which is current; `Args` passes a pointer to a value for each parameter
                    // of `P`; the graph owns what the kernel touches (C11), and the rest is the
                    // caller's promise.
                    unsafe { calls::graph_add_kernel_node(driver, graph, after, &parameters) }
                })
        })?;
        Ok(KernelNode::new(node))
    }

    /// Adds a copy of page-locked memory of the graph to device memory with as many elements
    /// (`cuGraphAddMemcpyNode`). The host memory is read when the node runs.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[doc(alias = "memcpy_htod")]
    pub fn write<T: Pod>(
        self,
        source: &OnStream<'g, GraphPinned<'_, 'ctx, T>>,
        destination: &mut OnStream<'g, impl MemoryMut<'ctx, T>>,
    ) -> Result<Node> {
        let (from, to) = (source.memory(), destination.memory());
        same_len(from.len(), to.len())?;
        let from = (
            CU_MEMORYTYPE_HOST,
            Use::read::<T>(from.address(), from.len()),
        );
        let to = (CU_MEMORYTYPE_DEVICE, Use::write::<T>(to.as_raw(), to.len()));
        self.add_copy("write", from, to)
    }

    /// Adds a copy of device memory to page-locked memory of the graph with as many elements
    /// (`cuGraphAddMemcpyNode`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[doc(alias = "memcpy_dtoh")]
    pub fn read<T: Pod>(
        self,
        source: impl Readable<'g, 'g, 'ctx, T>,
        destination: &mut OnStream<'g, GraphPinned<'_, 'ctx, T>>,
    ) -> Result<Node> {
        let ((address, len), to) = (source.region(), destination.memory());
        same_len(len, to.len())?;
        let from = (CU_MEMORYTYPE_DEVICE, Use::read::<T>(address, len));
        let to = (CU_MEMORYTYPE_HOST, Use::write::<T>(to.address(), to.len()));
        self.add_copy("read", from, to)
    }

    /// Adds a copy within the device, between memory of one length (`cuGraphAddMemcpyNode`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[doc(alias = "memcpy_dtod")]
    pub fn copy<T: Pod>(
        self,
        source: impl Readable<'g, 'g, 'ctx, T>,
        destination: &mut OnStream<'g, impl MemoryMut<'ctx, T>>,
    ) -> Result<Node> {
        let ((address, len), to) = (source.region(), destination.memory());
        same_len(len, to.len())?;
        let from = (CU_MEMORYTYPE_DEVICE, Use::read::<T>(address, len));
        let to = (CU_MEMORYTYPE_DEVICE, Use::write::<T>(to.as_raw(), to.len()));
        self.add_copy("copy", from, to)
    }

    fn add_copy(
        self,
        name: &str,
        (from_kind, from): (CUmemorytype, Use),
        (to_kind, to): (CUmemorytype, Use),
    ) -> Result<Node> {
        if to.bytes == 0 {
            return self.nothing(self.told(), name);
        }
        let copy = copy_of(from_kind, &from, to_kind, &to);
        let (driver, context) = (self.context().api(), self.context().state().raw());
        let work = (Work::Copy, name.to_owned());
        self.recorder
            .add(self.told(), vec![from, to], work, None, |graph, after| {
                // SAFETY: graph, nodes and context are live; the graph owns both sides, which have
                // the bytes and do not overlap: one is lent mutably (C2, C11).
                unsafe { calls::graph_add_memcpy_node(driver, graph, after, &copy, context) }
            })
    }

    /// Adds a node that sets every element to `value` (`cuGraphAddMemsetNode`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuGraphAddMemsetNode")]
    pub fn fill<T: Fill>(
        self,
        destination: &mut OnStream<'g, impl MemoryMut<'ctx, T>>,
        value: T,
    ) -> Result<Node> {
        let to = destination.memory();
        let (Some(pattern), false) = (Pattern::of(&value), to.is_empty()) else {
            return self.nothing(self.told(), "fill");
        };
        let (value, element) = match pattern {
            Pattern::D8(value) => (u32::from(value), 1),
            Pattern::D16(value) => (u32::from(value), 2),
            Pattern::D32(value) => (value, 4),
        };
        let memset = CUDA_MEMSET_NODE_PARAMS {
            dst: to.as_raw(),
            pitch: 0,
            value,
            elementSize: element,
            width: to.len(),
            height: 1,
        };
        let uses = vec![Use::write::<T>(to.as_raw(), to.len())];
        let (driver, context) = (self.context().api(), self.context().state().raw());
        let work = (Work::Fill, "fill".to_owned());
        self.recorder
            .add(self.told(), uses, work, None, |graph, after| {
                // SAFETY: graph, nodes and context are live; the graph owns the elements (C2, C11).
                unsafe { calls::graph_add_memset_node(driver, graph, after, &memset, context) }
            })
    }
}

impl<'ctx, P: Params> SafeKernel<'ctx, P> {
    /// Adds a launch of the kernel to a graph, if all its preconditions hold
    /// (`cuGraphAddKernelNode`).
    ///
    /// # Errors
    /// [`Error::Precondition`] with the first that does not hold, or as [`GraphBuilder::launch`].
    ///
    /// ```
    /// # use scoped_cuda::{Driver, InOut, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("scale", |call| {
    /// #     let (n, k) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
    /// #     call.update::<f32>(0, |x| x[..n].iter_mut().for_each(|x| *x *= k));
    /// # });
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 k) { ret; }");
    /// # driver.with_device(0, |ctx| {
    /// let scale = ctx.load_ptx(ptx)?.kernel::<(InOut<f32>, u32, f32)>("scale")?;
    /// // SAFETY: it multiplies the first n elements of x by k.
    /// let scale = unsafe {
    ///     scale.assert_safe_when([("n is at most the length of x", |_, (x, n, _)| n as usize <= x)])
    /// };
    /// let config = LaunchConfig::for_elements(3);
    /// let (mut graph, node) = ctx.graph(ctx.upload(&[1.0f32, 2.0, 3.0])?, |g, mut x| {
    ///     scale.launch_in(g, config, (&mut x, 3, 10.0))
    /// })?;
    /// let stream = ctx.new_stream()?;
    /// stream.scope(|s| graph.lend(s).launch(s))?;
    /// graph.change(|change, mut x| scale.change_in(change, node, config, (&mut x, 2, 0.5)))?;
    /// stream.scope(|s| graph.lend(s).launch(s))?;
    /// assert_eq!(graph.memory_mut().as_slice().to_vec()?, [5.0, 10.0, 30.0]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuGraphAddKernelNode")]
    pub fn launch_in<'g, A: Args<'g, 'g, 'ctx, P>>(
        &self,
        graph: GraphBuilder<'g, 'ctx>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<KernelNode<P>> {
        if !config.is_empty() {
            self.check(&config, arguments.seen(&config))?;
        }
        // SAFETY: whoever wrapped the kernel vouches for launches with which the preconditions
        // hold, and they depend on nothing that changes between launches of the graph; it reads no
        // variables.
        unsafe { graph.launch(self.kernel(), config, arguments) }
    }
}

/// The grid of a launch that is nothing but a grid.
pub(super) fn grid_of<P>(
    kernel: &Kernel<'_, P>,
    config: &LaunchConfig,
) -> Result<Option<[u32; 3]>> {
    if !config.is_plain() {
        return Err(Error::Graph {
            problem: "a node launches a grid: not cooperatively, in clusters, with a priority or overlapping",
        });
    }
    kernel.check(config)
}

pub(super) fn uses_of<'g, 'ctx, P: Params>(arguments: &impl Args<'g, 'g, 'ctx, P>) -> Vec<Use> {
    let mut uses = Vec::new();
    arguments.uses(Token, &mut |one| uses.push(one));
    uses
}

/// A row of bytes from one place to the other.
fn copy_of(from_kind: CUmemorytype, from: &Use, to_kind: CUmemorytype, to: &Use) -> CUDA_MEMCPY3D {
    let host = |kind, one: &Use| -> *mut c_void {
        match kind {
            CU_MEMORYTYPE_HOST => ptr::with_exposed_provenance_mut(one.address as usize),
            _ => ptr::null_mut(),
        }
    };
    // Memory that exists has a size that an address can count.
    let bytes = to.bytes as usize;
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: from_kind,
        srcHost: host(from_kind, from).cast_const(),
        srcDevice: from.address,
        srcArray: CUarray::NULL,
        reserved0: ptr::null_mut(),
        srcPitch: bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: to_kind,
        dstHost: host(to_kind, to),
        dstDevice: to.address,
        dstArray: CUarray::NULL,
        reserved1: ptr::null_mut(),
        dstPitch: bytes,
        dstHeight: 1,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}

impl fmt::Debug for GraphBuilder<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder")
            .field("graph", &self.recorder.id)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
