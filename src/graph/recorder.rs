//! A graph on its way: the driver's nodes, and what the crate knows of each.

#![allow(unsafe_code)] // owns driver graphs, adds nodes

use super::node::Node;
use super::regions::{Edge, Reason, Regions};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphNode, CUkernel};
use crate::ffi::{CUcontext, CUfunction};
use crate::internal::{calls, current};
use crate::kernel::{LaunchConfig, Loaded, Use};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// A driver graph; dropping it destroys it.
pub(super) struct RawGraph<'ctx> {
    pub(super) context: Context<'ctx>,
    pub(super) raw: CUgraph,
}

/// An instantiated graph; dropping it destroys it.
pub(super) struct RawExec<'ctx> {
    pub(super) context: Context<'ctx>,
    pub(super) raw: CUgraphExec,
}

/// What a node does, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    Kernel,
    Copy,
    Fill,
    Nothing,
}

/// A node, and what it needs.
pub(super) struct Recorded<'ctx> {
    pub(super) raw: CUgraphNode,
    pub(super) work: Work,
    pub(super) name: String,
    pub(super) uses: Vec<Use>,
    pub(super) edges: Vec<Edge>,
    /// The image of a kernel, which stays loaded.
    pub(super) loaded: Option<Loaded<'ctx>>,
}

pub(super) struct Recorder<'ctx> {
    pub(super) graph: RawGraph<'ctx>,
    pub(super) id: u64,
    state: RefCell<State<'ctx>>,
}

#[derive(Default)]
struct State<'ctx> {
    nodes: Vec<Recorded<'ctx>>,
    regions: Regions,
}

impl<'ctx> Recorder<'ctx> {
    pub(super) fn new(context: Context<'ctx>) -> Result<Self> {
        let (state, driver) = (context.state(), context.api());
        state.not_lost()?;
        let raw = current::bind(state, || calls::graph_create(driver))?;
        Ok(Self {
            graph: RawGraph { context, raw },
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            state: RefCell::default(),
        })
    }

    /// Adds a node behind those that its memory makes it wait for, and behind `told`.
    pub(super) fn add(
        &self,
        told: &[Node],
        uses: Vec<Use>,
        (work, name): (Work, String),
        loaded: Option<Loaded<'ctx>>,
        add: impl FnOnce(CUgraph, &[CUgraphNode]) -> Result<CUgraphNode>,
    ) -> Result<Node> {
        // Nothing of a user's runs while this is borrowed.
        let mut state = self.state.borrow_mut();
        let mut edges = state.regions.edges(&uses);
        for node in told {
            if node.graph != self.id || node.index >= state.nodes.len() {
                return Err(Error::Graph {
                    problem: "a node is to wait for a node of another graph",
                });
            }
            if !edges.iter().any(|edge| edge.from == node.index) {
                edges.push(Edge {
                    from: node.index,
                    reason: Reason::Told,
                });
            }
        }
        let nodes = edges.iter().filter_map(|edge| state.nodes.get(edge.from));
        let after: Vec<CUgraphNode> = nodes.map(|node| node.raw).collect();
        let raw = current::bind(self.graph.context.state(), || add(self.graph.raw, &after))?;
        let index = state.nodes.len();
        state.regions.touch(index, &uses);
        state.nodes.push(Recorded {
            raw,
            work,
            name,
            uses,
            edges,
            loaded,
        });
        Ok(Node {
            graph: self.id,
            index,
        })
    }

    pub(super) fn into_parts(self) -> (RawGraph<'ctx>, u64, Vec<Recorded<'ctx>>) {
        (self.graph, self.id, self.state.into_inner().nodes)
    }
}

/// What the driver takes for a kernel node.
pub(super) fn kernel_parameters(
    function: CUfunction,
    [x, y, z]: [u32; 3],
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
) -> CUDA_KERNEL_NODE_PARAMS {
    let [bx, by, bz] = config.block();
    CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: config.get_dynamic_shared_bytes(),
        kernelParams: pointers,
        extra: ptr::null_mut(),
        kern: CUkernel::NULL,
        ctx: CUcontext::NULL,
    }
}

impl<'ctx> RawGraph<'ctx> {
    pub(super) fn instantiate(&self) -> Result<RawExec<'ctx>> {
        let context = self.context;
        // SAFETY: the graph is live.
        let raw = current::bind(context.state(), || unsafe {
            calls::graph_instantiate(context.api(), self.raw)
        })?;
        Ok(RawExec { context, raw })
    }
}

impl Drop for RawGraph<'_> {
    fn drop(&mut self) {
        let state = self.context.state();
        state.tear_down(|driver| {
            // SAFETY: owned; an exec of it may live on (measured).
            current::bind(state, || unsafe { calls::graph_destroy(driver, self.raw) })
        });
    }
}

impl Drop for RawExec<'_> {
    fn drop(&mut self) {
        let state = self.context.state();
        state.tear_down(|driver| {
            // SAFETY: owned, and at rest: a scope that launches it borrows its graph until the wait
            // (C5).
            current::bind(state, || unsafe {
                calls::graph_exec_destroy(driver, self.raw)
            })
        });
    }
}
