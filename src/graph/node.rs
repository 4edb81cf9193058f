//! Names of the nodes of a graph.

use std::fmt;
use std::marker::PhantomData;

/// A node of a graph, of whatever kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    pub(super) graph: u64,
    pub(super) index: usize,
}

/// A node that launches a kernel with parameters `P`.
pub struct KernelNode<P> {
    node: Node,
    _parameters: PhantomData<fn(P)>,
}

static_assertions::assert_impl_all!(KernelNode<(u32,)>: Copy, Send, Sync);

impl<P> KernelNode<P> {
    pub(super) fn new(node: Node) -> Self {
        Self {
            node,
            _parameters: PhantomData,
        }
    }

    /// The node without its parameter list.
    #[must_use]
    pub fn node(self) -> Node {
        self.node
    }
}

impl<P> Clone for KernelNode<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for KernelNode<P> {}

impl<P> From<KernelNode<P>> for Node {
    fn from(node: KernelNode<P>) -> Self {
        node.node
    }
}

impl<P> fmt::Debug for KernelNode<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KernelNode").field(&self.node.index).finish()
    }
}
