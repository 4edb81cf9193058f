//! Graphs: work that is described once and launched many times.
//!
//! A graph is built node by node with the words of a scope: launch, copy, write, read, fill. The
//! types say what each node reads and writes, so the dependencies are found, not written: a read
//! waits for the last write, a write for the reads and the write before. Independent nodes run side
//! by side.
//!
//! A graph owns what it uses. Its memory is moved in and given back at the end; kernels stay
//! loaded. A node that copies from or to the host uses page-locked memory of the graph: a launch
//! with a download to pageable memory would keep the calling thread until it is done (measured).
//!
//! In a scope a graph is lent to a stream like memory ([`Graph::lend`]), launched any number of
//! times, and its memory written and read between launches in the same order. Between scopes nodes
//! can be changed ([`Graph::change`]): scalars, configuration, kernel, and whether they run at all.
//!
//! # When a graph pays
//!
//! Measured on an H200 (CUDA 13.0). The launch of a graph of 100 empty kernels takes 1.2
//! microseconds of the caller's time, 100 launches on a stream 320. On the device a kernel of a
//! chain takes 0.5 microseconds instead of 3.2, in 10 independent branches 0.2. The graph has to be
//! made first: 0.4 to 1.2 microseconds a node, and 90 to 110 for the instantiation of 20 nodes, up
//! to 4.4 milliseconds for 1000.
//!
//! - Many short kernels, the same each time (a step of a solver, a layer of inference): after about
//!   two launches.
//! - Kernels of a millisecond in a chain: never; side by side: as many times faster as there are
//!   branches.
//! - Shapes that change at each launch: changing a node takes 0.4 microseconds, which is less than
//!   a launch, so it pays when few nodes change.

mod builder;
mod change;
mod dot;
#[allow(clippy::module_inception)] // the noun's own file
mod graph;
mod memory;
mod node;
mod recorder;
mod regions;

pub use builder::GraphBuilder;
pub use change::GraphChange;
use graph::Launchable;
pub use graph::{Graph, LentGraph};
pub use memory::{GraphMemory, GraphPinned};
pub use node::{KernelNode, Node};
