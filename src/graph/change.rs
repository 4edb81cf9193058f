//! Changing nodes between launches.

#![allow(unsafe_code)] // changes nodes with addresses

use super::builder::{grid_of, uses_of};
use super::memory::GraphMemory;
use super::node::{KernelNode, Node};
use super::recorder::{Recorded, Work, kernel_parameters};
use super::{Graph, Launchable};
use crate::error::{Error, Result};
use crate::internal::{calls, current};
use crate::kernel::{Args, Kernel, LaunchConfig, Params, SafeKernel};
use crate::memory::sealed::Token;
use generativity::{Id, make_guard};
use std::fmt;

/// Permission to change the nodes of a graph that is at rest. Made by [`Graph::change`].
pub struct GraphChange<'g, 'c, 'ctx> {
    launchable: &'c mut Launchable<'ctx>,
    _brand: Id<'g>,
}

impl<'ctx, M: GraphMemory<'ctx>> Graph<'ctx, M> {
    /// Changes nodes, from the next launch on. The graph is at rest meanwhile: no launch is in
    /// flight.
    ///
    /// `change` is given the graph's memory, for the arguments of kernels.
    ///
    /// # Errors
    /// [`Error::ContextLost`], or those of `change`. What it has changed before stays changed.
    pub fn change<R>(
        &mut self,
        change: impl for<'g, 'c> FnOnce(&mut GraphChange<'g, 'c, 'ctx>, M::Lent<'g, 'g>) -> Result<R>,
    ) -> Result<R> {
        self.context().state().not_lost()?;
        let (launchable, memory) = self.parts_mut();
        make_guard!(guard);
        let brand: Id<'_> = guard.into();
        let mut permission = GraphChange {
            launchable,
            _brand: brand,
        };
        // SAFETY: borrowed mutably by this call, in which the brand, and with it `'g`, ends.
        change(&mut permission, unsafe { memory.lent(brand, Token) })
    }

    /// Switches a node off, so that launches skip it, or on again (`cuGraphNodeSetEnabled`). Others
    /// still wait for what it waits for.
    ///
    /// # Errors
    /// [`Error::Graph`] for a node of another graph or one that does nothing,
    /// [`Error::ContextLost`], or what the driver returns.
    #[doc(alias = "cuGraphNodeSetEnabled")]
    pub fn set_enabled(&mut self, node: impl Into<Node>, is_enabled: bool) -> Result<()> {
        let (launchable, _) = self.parts_mut();
        let node = launchable.working(node.into())?.raw;
        let (context, exec) = (launchable.exec.context, launchable.exec.raw);
        context.state().not_lost()?;
        // SAFETY: the exec is live, and the node is one of its graph.
        current::bind(context.state(), || unsafe {
            calls::graph_node_set_enabled(context.api(), exec, node, is_enabled)
        })
    }

    /// Whether launches run a node (`cuGraphNodeGetEnabled`).
    ///
    /// # Errors
    /// As [`set_enabled`](Self::set_enabled).
    #[doc(alias = "cuGraphNodeGetEnabled")]
    pub fn is_enabled(&self, node: impl Into<Node>) -> Result<bool> {
        let launchable = self.launchable();
        let node = launchable.working(node.into())?.raw;
        let (context, exec) = (launchable.exec.context, launchable.exec.raw);
        context.state().not_lost()?;
        // SAFETY: the exec is live, and the node is one of its graph.
        current::bind(context.state(), || unsafe {
            calls::graph_node_is_enabled(context.api(), exec, node)
        })
    }
}

impl<'ctx> Launchable<'ctx> {
    fn index(&self, node: Node) -> Result<usize> {
        match node.graph == self.id && node.index < self.nodes.len() {
            true => Ok(node.index),
            false => Err(Error::Graph {
                problem: "the node is one of another graph",
            }),
        }
    }

    /// A node that does something.
    fn working(&self, node: Node) -> Result<&Recorded<'ctx>> {
        let node = self.nodes.get(self.index(node)?);
        node.filter(|node| node.work != Work::Nothing)
            .ok_or(Error::Graph {
                problem: "the node does nothing: it was made for an empty problem or to join others",
            })
    }
}

impl<'g, 'ctx> GraphChange<'g, '_, 'ctx> {
    /// Gives a node another configuration, other arguments or another kernel with the same
    /// parameter list (`cuGraphExecKernelNodeSetParams`).
    ///
    /// The kernel may touch memory that the node touched when the graph was built, or parts of it,
    /// in the same way: the edges were found for that.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::launch`](super::GraphBuilder::launch); [`Error::Graph`] for a node
    /// of another graph, an empty problem, or memory that the node did not touch.
    ///
    /// # Safety
    /// As [`GraphBuilder::launch`](super::GraphBuilder::launch).
    #[doc(alias = "cuGraphExecKernelNodeSetParams")]
    pub unsafe fn launch<P: Params, A: Args<'g, 'g, 'ctx, P>>(
        &mut self,
        node: KernelNode<P>,
        kernel: &Kernel<'ctx, P>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        let known = self.launchable.working(node.node())?;
        let Some(grid) = grid_of(kernel, &config)? else {
            return Err(Error::Graph {
                problem: "the problem is empty: switch the node off instead",
            });
        };
        let is_known = |one| known.uses.iter().any(|known| known.covers(one));
        if !uses_of(&arguments).iter().all(is_known) {
            return Err(Error::Graph {
                problem: "the node would touch memory that it did not touch when the graph was built",
            });
        }
        let (raw, function) = (known.raw, kernel.as_raw());
        let (context, exec) = (self.launchable.exec.context, self.launchable.exec.raw);
        arguments.with_pointers(Token, &config, |pointers| {
            let parameters = kernel_parameters(function, grid, &config, pointers);
            // SAFETY: exec, node and function are live and of one context (equal brands, C2), which
            // is current; `Args` passes a pointer to a value for each parameter of `P`, which is
            // the kernel's list; the graph owns what the kernel touches (C11), in the order that
            // its edges give.
            current::bind(context.state(), || unsafe {
                calls::graph_exec_kernel_node_set_params(context.api(), exec, raw, &parameters)
            })
        })?;
        let index = self.launchable.index(node.node())?;
        if let Some(known) = self.launchable.nodes.get_mut(index) {
            known.loaded = Some(kernel.keep());
        }
        Ok(())
    }
}

impl<'ctx, P: Params> SafeKernel<'ctx, P> {
    /// Changes a node of a graph to a launch of this kernel, if all its preconditions hold
    /// (`cuGraphExecKernelNodeSetParams`).
    ///
    /// # Errors
    /// [`Error::Precondition`] with the first that does not hold, or as [`GraphChange::launch`].
    #[doc(alias = "cuGraphExecKernelNodeSetParams")]
    pub fn change_in<'g, A: Args<'g, 'g, 'ctx, P>>(
        &self,
        graph: &mut GraphChange<'g, '_, 'ctx>,
        node: KernelNode<P>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        if !config.is_empty() {
            self.check(&config, arguments.seen(&config))?;
        }
        // SAFETY: whoever wrapped the kernel vouches for launches with which the preconditions
        // hold.
        unsafe { graph.launch(node, self.kernel(), config, arguments) }
    }
}

impl fmt::Debug for GraphChange<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphChange")
            .field("graph", &self.launchable.id)
            .finish_non_exhaustive()
    }
}
