//! Graphs: work that is described once and launched many times.
//!
//! A graph is built node by node with the words of a scope: launch, copy, write, read, fill. The
//! types say what each node reads and writes, so the dependencies are found, not written: a read
//! waits for the last write, a write for the reads and the write before. Independent nodes run side
//! by side.
//!
//! A graph owns what it uses. Its memory is moved in and given back at the end; kernels stay
//! loaded. A node that copies from or to the host uses page-locked memory of the graph: a launch
//! with a download to pageable memory would keep the calling thread until it is done.
//!
//! In a scope a graph is lent to a stream like memory ([`Graph::lend`]), launched any number of
//! times, and its memory written and read between launches in the same order. Between scopes nodes
//! can be changed ([`Graph::change`]): scalars, configuration, kernel, and whether they run at all.
//!
//! # When a graph pays
//!
//! A launch of a graph costs the caller about as much as the launch of one kernel, however many
//! nodes there are, and the device starts each node sooner than a kernel of a stream. The graph has
//! to be made first. `cargo run --release --example graph` prints what that comes to on your
//! device; `BENCHMARKS.md` has a run.
//!
//! - Many short kernels, the same each time (a step of a solver, a layer of inference): after few
//!   launches.
//! - Kernels of a millisecond in a chain: never. Side by side they may share the device.
//! - Shapes that change at each launch: only when few nodes change, for each change is a driver call.

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
