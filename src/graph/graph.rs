//! A graph that can be launched, with what it owns.

#![allow(unsafe_code)] // launches

use super::dot;
use super::memory::GraphMemory;
use super::recorder::{RawExec, RawGraph, Recorded, Recorder};
use crate::context::Context;
use crate::error::Result;
use crate::ffi::CUstream;
use crate::internal::{calls, current};
use crate::memory::sealed::{Sealed, Token};
use crate::memory::{HandOver, OnStream};
use crate::stream::ScopedStream;
use std::fmt;

/// A graph: work that is described once and launched many times, with the memory `M` that it uses.
///
/// Made by [`Context::graph`]. At rest its memory is at hand in [`memory_mut`](Self::memory_mut)
/// and [`into_memory`](Self::into_memory). In a scope it is [lent](Self::lend) to a stream, like
/// memory.
///
/// Dropping it destroys the graph and frees the memory. Forgetting it leaks both, and nothing else.
pub struct Graph<'ctx, M> {
    // Destroyed before the memory is freed.
    launchable: Launchable<'ctx>,
    memory: M,
}

/// The graph without its memory.
pub(super) struct Launchable<'ctx> {
    pub(super) exec: RawExec<'ctx>,
    /// Its nodes are the names by which the exec is changed.
    _graph: RawGraph<'ctx>,
    pub(super) id: u64,
    pub(super) nodes: Vec<Recorded<'ctx>>,
}

impl<'ctx> Launchable<'ctx> {
    pub(super) fn new(recorder: Recorder<'ctx>) -> Result<Self> {
        let (graph, id, nodes) = recorder.into_parts();
        let exec = graph.instantiate()?;
        Ok(Self {
            exec,
            _graph: graph,
            id,
            nodes,
        })
    }
}

impl<'ctx, M> Graph<'ctx, M> {
    pub(super) fn new(launchable: Launchable<'ctx>, memory: M) -> Self {
        Self { launchable, memory }
    }

    pub(super) fn launchable(&self) -> &Launchable<'ctx> {
        &self.launchable
    }

    pub(super) fn parts_mut(&mut self) -> (&mut Launchable<'ctx>, &mut M) {
        (&mut self.launchable, &mut self.memory)
    }

    /// The context of the graph.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.launchable.exec.context
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.launchable.nodes.len()
    }

    /// Whether there are no nodes. Such a graph may be launched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.launchable.nodes.is_empty()
    }

    /// Number of edges between nodes.
    #[must_use]
    pub fn edges(&self) -> usize {
        let nodes = self.launchable.nodes.iter();
        nodes.map(|node| node.edges.len()).sum()
    }

    /// The graph in the language of Graphviz, each edge with its reason.
    #[must_use]
    pub fn dot(&self) -> String {
        dot::text(&self.launchable.nodes)
    }

    /// Destroys the graph and gives its memory back.
    pub fn into_memory(self) -> M {
        self.memory
    }

    /// Puts the graph, and all its memory, into the order of `stream` until the end of the scope.
    /// No driver call.
    #[must_use]
    pub fn lend<'s, 'scope>(
        &'scope mut self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
    ) -> OnStream<'s, LentGraph<'scope, 'ctx, M>> {
        OnStream::new(LentGraph { graph: self }, stream.brand())
    }
}

impl<'ctx, M: GraphMemory<'ctx>> Graph<'ctx, M> {
    /// Views of the graph's memory, which is at rest.
    pub fn memory_mut(&mut self) -> M::Views<'_> {
        self.memory.views(Token)
    }
}

/// A graph in the order of a stream. Made by [`Graph::lend`].
pub struct LentGraph<'scope, 'ctx, M> {
    graph: &'scope mut Graph<'ctx, M>,
}

impl<M> Sealed for LentGraph<'_, '_, M> {}

impl<'scope, 'ctx, M> HandOver<'scope, 'ctx> for LentGraph<'scope, 'ctx, M> {
    fn freed_on(&mut self, _: CUstream, _: Token) {}
}

impl<'s, 'scope, 'ctx, M> OnStream<'s, LentGraph<'scope, 'ctx, M>> {
    /// Launches the graph on the stream in whose order it is (`cuGraphLaunch`). Allocates nothing.
    ///
    /// Launches of one graph run one after the other.
    ///
    /// # Errors
    /// What the driver returns.
    #[inline]
    #[doc(alias = "cuGraphLaunch")]
    pub fn launch(&mut self, stream: ScopedStream<'s, 'scope, 'ctx>) -> Result<()> {
        let exec = &self.memory().graph.launchable.exec;
        let (state, driver) = (exec.context.state(), exec.context.api());
        let raw = stream.stream().as_raw();
        // SAFETY: exec and stream are of one context (equal brands, C2); the graph owns what its
        // nodes touch and is lent, in the order of this stream, until the scope has waited (C5, C6,
        // C11). Page-locked memory of the graph counts as lent host memory while it exists
        // (`show_device`).
        current::bind(state, || unsafe {
            calls::graph_launch(driver, exec.raw, raw)
        })
    }

    /// Uploads the graph to the device, so that its first launch costs no more than others
    /// (`cuGraphUpload`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuGraphUpload")]
    #[doc(alias = "clone_htod")]
    pub fn upload(&mut self, stream: ScopedStream<'s, 'scope, 'ctx>) -> Result<()> {
        let exec = &self.memory().graph.launchable.exec;
        let (state, driver) = (exec.context.state(), exec.context.api());
        let raw = stream.stream().as_raw();
        // SAFETY: exec and stream are of one context (equal brands, C2), and both live for
        // `'scope`.
        current::bind(state, || unsafe {
            calls::graph_upload(driver, exec.raw, raw)
        })
    }

    /// The graph's memory, in the same order: what is done with it happens between the launch
    /// before and the launch after.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let memory = (ctx.zeros::<u32>(2)?, ctx.zeros::<u32>(2)?);
    /// let (mut graph, _) = ctx.graph(memory, |g, (a, mut b)| g.copy(&a, &mut b))?;
    /// let (stream, mut first, mut second) = (ctx.new_stream()?, [0; 2], [0; 2]);
    /// stream.scope(|s| {
    ///     let mut graph = graph.lend(s);
    ///     s.write(&[1, 2], &mut graph.lent_memory().0)?;
    ///     graph.launch(s)?;
    ///     s.read(&graph.lent_memory().1, &mut first)?;
    ///     s.write(&[3, 4], &mut graph.lent_memory().0)?;
    ///     graph.launch(s)?;
    ///     s.read(&graph.lent_memory().1, &mut second)
    /// })?;
    /// assert_eq!((first, second), ([1, 2], [3, 4]));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn lent_memory(&mut self) -> M::Lent<'_, 's>
    where
        M: GraphMemory<'ctx>,
    {
        let brand = self.brand();
        let memory = &mut self.memory_mut().graph.memory;
        // SAFETY: borrowed mutably for the lifetime of what comes back.
        unsafe { memory.lent(brand, Token) }
    }
}

impl<M> fmt::Debug for Graph<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.len())
            .field("edges", &self.edges())
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for LentGraph<'_, '_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentGraph").field(&self.graph).finish()
    }
}
