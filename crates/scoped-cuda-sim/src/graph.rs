//! Graphs, node by node, and launches of them.
//!
//! What is ready runs at once, each piece of work on a thread of its own, unless the machine was
//! told to run the nodes one at a time, in an order that a seed chooses among those that the edges
//! allow.

use super::context::ContextRef;
use super::machine::{Machine, Outcome, State};
use super::registry::{Handle, Kind};
use super::work::{Fault, Work};
use scoped_cuda_sys::CUresult;
use std::sync::{Arc, mpsc};
use std::thread;

/// A graph: nodes, and for each the nodes that it waits for.
pub(super) struct Graph {
    pub(super) context: Option<ContextRef>,
    nodes: Vec<Node>,
}

#[derive(Clone)]
struct Node {
    handle: Handle,
    /// `None` for an empty node.
    work: Option<Arc<Work>>,
    after: Vec<usize>,
    is_enabled: bool,
}

/// A graph that can be launched: the nodes as they were when it was instantiated, but for later
/// changes.
pub(super) struct Exec {
    pub(super) context: ContextRef,
    nodes: Vec<Node>,
}

/// What one launch runs.
pub(super) struct GraphRun {
    nodes: Vec<Node>,
    /// Chooses the order, when nodes run one at a time.
    seed: Option<u64>,
}

impl State {
    pub(super) fn create_graph(&mut self) -> Handle {
        let graph = Graph {
            context: self.current().ok(),
            nodes: Vec::new(),
        };
        let handle = self.new_handle(Kind::Graph);
        self.graphs.insert(handle, graph);
        handle
    }

    pub(super) fn destroy_graph(&mut self, graph: Handle) -> Outcome {
        let found = self.graphs.remove(&graph);
        found.map(drop).ok_or(CUresult::INVALID_VALUE)
    }

    /// Adds a node behind others of the same graph.
    pub(super) fn add_node(
        &mut self,
        graph: Handle,
        dependencies: &[Handle],
        work: Option<Work>,
    ) -> Outcome<Handle> {
        let handle = self.new_handle(Kind::GraphNode);
        let found = self.graphs.get_mut(&graph);
        let nodes = &mut found.ok_or(CUresult::INVALID_VALUE)?.nodes;
        let index_of = |&handle: &Handle| nodes.iter().position(|node| node.handle == handle);
        let after: Option<Vec<usize>> = dependencies.iter().map(index_of).collect();
        let mut after = after.ok_or(CUresult::INVALID_VALUE)?;
        after.sort_unstable();
        if after.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(CUresult::INVALID_VALUE);
        }
        nodes.push(Node {
            handle,
            work: work.map(Arc::new),
            after,
            is_enabled: true,
        });
        Ok(handle)
    }

    pub(super) fn instantiate(&mut self, graph: Handle) -> Outcome<Handle> {
        let context = self.current().map_err(|_| CUresult::INVALID_CONTEXT)?;
        let found = self.graphs.get(&graph).ok_or(CUresult::INVALID_VALUE)?;
        let nodes = found.nodes.clone();
        let handle = self.new_handle(Kind::GraphExec);
        self.graph_execs.insert(handle, Exec { context, nodes });
        Ok(handle)
    }

    /// Work of an exec that is on its way runs on.
    pub(super) fn destroy_exec(&mut self, exec: Handle) -> Outcome {
        let found = self.graph_execs.remove(&exec);
        found.map(drop).ok_or(CUresult::INVALID_VALUE)
    }

    fn exec_node(&mut self, exec: Handle, node: Handle) -> Outcome<&mut Node> {
        let found = self.graph_execs.get_mut(&exec);
        let mut nodes = found.ok_or(CUresult::INVALID_VALUE)?.nodes.iter_mut();
        nodes
            .find(|own| own.handle == node)
            .ok_or(CUresult::INVALID_VALUE)
    }

    /// Changes what a kernel node does, from the next launch on.
    pub(super) fn set_launch(&mut self, exec: Handle, node: Handle, work: Work) -> Outcome {
        let node = self.exec_node(exec, node)?;
        match node.work.as_deref() {
            Some(Work::Launch(_)) => node.work = Some(Arc::new(work)),
            _ => return Err(CUresult::INVALID_VALUE),
        }
        Ok(())
    }

    pub(super) fn set_enabled(&mut self, exec: Handle, node: Handle, is_enabled: bool) -> Outcome {
        let node = self.exec_node(exec, node)?;
        // An empty node cannot be switched.
        match node.work {
            Some(_) => node.is_enabled = is_enabled,
            None => return Err(CUresult::INVALID_VALUE),
        }
        Ok(())
    }

    pub(super) fn is_enabled(&mut self, exec: Handle, node: Handle) -> Outcome<bool> {
        self.exec_node(exec, node).map(|node| node.is_enabled)
    }

    /// What a launch of an exec runs, as things are now, and whether it writes pageable host
    /// memory.
    pub(super) fn graph_run(&mut self, exec: Handle) -> Outcome<(GraphRun, bool)> {
        let found = self.graph_execs.get(&exec).ok_or(CUresult::INVALID_VALUE)?;
        self.live(found.context)?;
        let mut nodes = found.nodes.clone();
        let mut is_blocking = false;
        for node in nodes.iter_mut().filter(|node| node.is_enabled) {
            let Some(work) = node.work.as_deref() else {
                continue;
            };
            is_blocking |= work.writes_pageable(self);
            if let Some(staged) = work.staged(self) {
                node.work = Some(Arc::new(staged));
            }
        }
        let seed = self.graph_seed;
        self.graph_seed = seed.map(next);
        Ok((GraphRun { nodes, seed }, is_blocking))
    }
}

/// The number after one, of a sequence that looks random.
fn next(seed: u64) -> u64 {
    seed.wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407)
}

impl GraphRun {
    /// Runs the nodes: each when all that it waits for have run.
    ///
    /// # Errors
    /// What the first node with a fault did. Nodes that had not begun then do not run.
    pub(super) fn run(&self, machine: &Machine) -> Result<(), Fault> {
        let waits = self.nodes.iter().map(|node| node.after.len());
        let mut left = Left {
            nodes: &self.nodes,
            waits: waits.collect(),
            ready: Vec::new(),
        };
        left.ready = (0..self.nodes.len())
            .filter(|&index| left.waits[index] == 0)
            .collect();
        match self.seed {
            Some(seed) => run_in_turn(left, seed, machine),
            None => run_at_once(left, machine),
        }
    }
}

impl Node {
    fn run(&self, machine: &Machine) -> Result<(), Fault> {
        match &self.work {
            Some(work) if self.is_enabled => work.run(machine),
            _ => Ok(()),
        }
    }
}

/// What has not run yet.
struct Left<'a> {
    nodes: &'a [Node],
    /// For how many nodes each still waits.
    waits: Vec<usize>,
    ready: Vec<usize>,
}

impl Left<'_> {
    fn done(&mut self, index: usize) {
        for (other, node) in self.nodes.iter().enumerate() {
            if node.after.contains(&index) {
                self.waits[other] -= 1;
                if self.waits[other] == 0 {
                    self.ready.push(other);
                }
            }
        }
    }
}

fn run_in_turn(mut left: Left<'_>, mut seed: u64, machine: &Machine) -> Result<(), Fault> {
    while !left.ready.is_empty() {
        seed = next(seed);
        let choice = (seed >> 33) as usize % left.ready.len();
        let index = left.ready.swap_remove(choice);
        left.nodes[index].run(machine)?;
        left.done(index);
    }
    Ok(())
}

fn run_at_once(mut left: Left<'_>, machine: &Machine) -> Result<(), Fault> {
    let (done, finished) = mpsc::channel();
    let mut result = Ok(());
    thread::scope(|scope| {
        let mut running = 0;
        loop {
            // The only thing there is to do needs no other thread.
            if let (0, [index]) = (running, left.ready.as_slice()) {
                let index = *index;
                left.ready.clear();
                result = left.nodes[index].run(machine);
                if result.is_err() {
                    return;
                }
                left.done(index);
                continue;
            }
            for index in left.ready.drain(..) {
                let (node, done, machine) = (&left.nodes[index], done.clone(), machine.clone());
                running += 1;
                scope.spawn(move || {
                    machine.select();
                    // The receiver is there as long as anybody runs.
                    let _ = done.send((index, node.run(&machine)));
                });
            }
            if running == 0 {
                return;
            }
            let Ok((index, outcome)) = finished.recv() else {
                return;
            };
            running -= 1;
            match outcome {
                Ok(()) if result.is_ok() => left.done(index),
                Ok(()) => {}
                Err(fault) => {
                    left.ready.clear();
                    if result.is_ok() {
                        result = Err(fault);
                    }
                }
            }
        }
    });
    result
}
