//! Graphs.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::kernel::{function_handle, launch_of};
use super::rows::copy_of;
use super::{Out, call};
use crate::context::Current;
use crate::kernel::Shape;
use crate::machine::{Machine, Outcome, State};
use crate::registry::{Handle, Named};
use crate::work::Work;
use scoped_cuda_sys::*;
use std::ffi::{c_uint, c_ulonglong};
use std::slice;

fn graph_handle(graph: CUgraph) -> Handle {
    Handle::from_ptr(graph.as_ptr())
}

fn exec_handle(exec: CUgraphExec) -> Handle {
    Handle::from_ptr(exec.as_ptr())
}

fn node_handle(node: CUgraphNode) -> Handle {
    Handle::from_ptr(node.as_ptr())
}

/// # Safety
/// `nodes` is null, or points to `count` nodes.
unsafe fn node_handles(nodes: *const CUgraphNode, count: usize) -> Outcome<Vec<Handle>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if nodes.is_null() {
        return Err(CUresult::INVALID_VALUE);
    }
    // SAFETY: the caller promises: `nodes` is null, or points to `count` nodes.
    let nodes = unsafe { slice::from_raw_parts(nodes, count) };
    Ok(nodes.iter().copied().map(node_handle).collect())
}

/// On calls that crash with no context current.
fn context_or_crash(state: &mut State, call: &str) -> Outcome {
    if state.seen_current() == Current::None {
        state.violation(format!(
            "{call} with no context current: the real driver crashes"
        ));
        return Err(CUresult::INVALID_CONTEXT);
    }
    Ok(())
}

pub(super) unsafe extern "C" fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint) -> CUresult {
    // SAFETY: null or valid for the call.
    let graph = unsafe { Out::new(graph) };
    call("cuGraphCreate", Named::Current, |_, mut state| {
        let graph = graph?;
        if flags != 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        graph.set(CUgraph::from_ptr(state.create_graph().as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuGraphDestroy(graph: CUgraph) -> CUresult {
    let graph = graph_handle(graph);
    call("cuGraphDestroy", Named::Handle(graph), |_, mut state| {
        state.destroy_graph(graph)
    })
}

/// Adds what `work` makes as a node.
///
/// # Safety
/// `node` is null or valid for the call; `dependencies` is null, or points to `count` nodes.
unsafe fn add(
    name: &'static str,
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    work: impl FnOnce(&Machine, &mut State) -> Outcome<Option<Work>>,
) -> CUresult {
    // SAFETY: the caller promises: `node` is null or valid for the call; `dependencies` is null, or
    // points to `count` nodes.
    let node = unsafe { Out::new(node) };
    // SAFETY: the caller promises: `node` is null or valid for the call; `dependencies` is null, or
    // points to `count` nodes.
    let dependencies = unsafe { node_handles(dependencies, count) };
    let graph = graph_handle(graph);
    call(name, Named::Handle(graph), |machine, mut state| {
        let (node, dependencies) = (node?, dependencies?);
        let work = work(machine, &mut state)?;
        let added = state.add_node(graph, &dependencies, work)?;
        node.set(CUgraphNode::from_ptr(added.as_ptr()))
    })
}

/// # Safety
/// `parameters` is null, or says a kernel with a pointer to a value for each of its parameters.
unsafe fn launch(
    machine: &Machine,
    state: &mut State,
    parameters: *const CUDA_KERNEL_NODE_PARAMS,
) -> Outcome<Work> {
    // SAFETY: null or valid for the call.
    let node = unsafe { parameters.as_ref() }.ok_or(CUresult::INVALID_VALUE)?;
    let shape = Shape {
        grid: [node.gridDimX, node.gridDimY, node.gridDimZ],
        block: [node.blockDimX, node.blockDimY, node.blockDimZ],
        shared_bytes: node.sharedMemBytes,
        cluster: None,
        is_cooperative: false,
    };
    let function = function_handle(node.func);
    // SAFETY: the caller promises: `parameters` is null, or says a kernel with a pointer to a value
    // for each of its parameters.
    let launch = unsafe { launch_of(machine, state, function, shape, node.kernelParams) }?;
    Ok(Work::Launch(launch))
}

pub(super) unsafe extern "C" fn cuGraphAddKernelNode(
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    parameters: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    const NAME: &str = "cuGraphAddKernelNode";
    let work = |machine: &Machine, state: &mut State| {
        context_or_crash(state, NAME)?;
        // SAFETY: null or valid for the call, with a pointer to a value for each parameter.
        unsafe { launch(machine, state, parameters) }.map(Some)
    };
    // SAFETY: the pointers are null or valid for the call, and as long as they say.
    unsafe { add(NAME, node, graph, dependencies, count, work) }
}

pub(super) unsafe extern "C" fn cuGraphAddMemcpyNode(
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    copy: *const CUDA_MEMCPY3D,
    context: CUcontext,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let copy = unsafe { copy.as_ref() };
    let context = Handle::from_ptr(context.as_ptr());
    let work = |_: &Machine, state: &mut State| {
        let device = state.device_of(state.context(context)?);
        let copy = copy.ok_or(CUresult::INVALID_VALUE)?;
        copy_of(state, copy, device).map(Some)
    };
    // SAFETY: the pointers are null or valid for the call, and as long as they say.
    unsafe {
        add(
            "cuGraphAddMemcpyNode",
            node,
            graph,
            dependencies,
            count,
            work,
        )
    }
}

pub(super) unsafe extern "C" fn cuGraphAddMemsetNode(
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    parameters: *const CUDA_MEMSET_NODE_PARAMS,
    context: CUcontext,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let memset = unsafe { parameters.as_ref() };
    let context = Handle::from_ptr(context.as_ptr());
    let work = |_: &Machine, state: &mut State| {
        let device = state.device_of(state.context(context)?);
        let memset = memset.ok_or(CUresult::INVALID_VALUE)?;
        fill_of(state, memset, device).map(Some)
    };
    // SAFETY: the pointers are null or valid for the call, and as long as they say.
    unsafe {
        add(
            "cuGraphAddMemsetNode",
            node,
            graph,
            dependencies,
            count,
            work,
        )
    }
}

fn fill_of(state: &mut State, memset: &CUDA_MEMSET_NODE_PARAMS, device: usize) -> Outcome<Work> {
    let width = memset.elementSize as usize;
    if !matches!(width, 1 | 2 | 4) || memset.width == 0 || memset.height != 1 {
        return Err(CUresult::INVALID_VALUE);
    }
    let bytes = memset.width.checked_mul(width);
    let to = state.place(memset.dst, bytes.ok_or(CUresult::INVALID_VALUE)?)?;
    if !to.allocation.admits(device) || memset.dst % width as u64 != 0 {
        return Err(CUresult::INVALID_VALUE);
    }
    Ok(Work::Fill {
        to,
        pattern: memset.value.to_le_bytes()[..width].to_vec(),
        count: memset.width,
    })
}

pub(super) unsafe extern "C" fn cuGraphAddEmptyNode(
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
) -> CUresult {
    // SAFETY: the pointers are null or valid for the call, and as long as they say.
    unsafe {
        add(
            "cuGraphAddEmptyNode",
            node,
            graph,
            dependencies,
            count,
            |_, _| Ok(None),
        )
    }
}

pub(super) unsafe extern "C" fn cuGraphInstantiateWithFlags(
    exec: *mut CUgraphExec,
    graph: CUgraph,
    flags: c_ulonglong,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let exec = unsafe { Out::new(exec) };
    let graph = graph_handle(graph);
    call(
        "cuGraphInstantiateWithFlags",
        Named::Handle(graph),
        |_, mut state| {
            let exec = exec?;
            if flags != 0 {
                return Err(CUresult::INVALID_VALUE);
            }
            let made = state.instantiate(graph)?;
            exec.set(CUgraphExec::from_ptr(made.as_ptr()))
        },
    )
}

pub(super) unsafe extern "C" fn cuGraphExecDestroy(exec: CUgraphExec) -> CUresult {
    let exec = exec_handle(exec);
    call("cuGraphExecDestroy", Named::Handle(exec), |_, mut state| {
        state.destroy_exec(exec)
    })
}

pub(super) unsafe extern "C" fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) -> CUresult {
    let (exec, stream) = (exec_handle(exec), Handle::from_ptr(stream.as_ptr()));
    call("cuGraphUpload", Named::Handle(exec), |_, mut state| {
        state.current()?;
        state.stream(stream)?;
        match state.graph_execs.contains_key(&exec) {
            true => Ok(()),
            false => Err(CUresult::INVALID_VALUE),
        }
    })
}

pub(super) unsafe extern "C" fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) -> CUresult {
    let (exec, stream) = (exec_handle(exec), Handle::from_ptr(stream.as_ptr()));
    call(
        "cuGraphLaunch",
        Named::Handle(exec),
        |machine, mut state| {
            // A stream names its context. The default stream, whose context is the current one,
            // does not.
            let is_default = stream == Handle::NULL;
            if is_default && state.seen_current() == Current::None {
                return Err(CUresult::INVALID_VALUE);
            }
            let stream = state.stream(stream)?;
            let (context, _) = state.home(stream)?;
            let (run, is_blocking) = state.graph_run(exec)?;
            let mark = machine.enqueue(&mut state, stream, Work::Graph(run))?;
            match is_blocking {
                true => machine.wait(state, mark)?.live(context),
                false => Ok(()),
            }
        },
    )
}

pub(super) unsafe extern "C" fn cuGraphExecKernelNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    parameters: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    const NAME: &str = "cuGraphExecKernelNodeSetParams";
    let (exec, node) = (exec_handle(exec), node_handle(node));
    call(NAME, Named::Handle(exec), |machine, mut state| {
        context_or_crash(&mut state, NAME)?;
        // SAFETY: null or valid for the call, with a pointer to a value for each parameter.
        let work = unsafe { launch(machine, &mut state, parameters) }?;
        state.set_launch(exec, node, work)
    })
}

pub(super) unsafe extern "C" fn cuGraphNodeSetEnabled(
    exec: CUgraphExec,
    node: CUgraphNode,
    is_enabled: c_uint,
) -> CUresult {
    let (exec, node) = (exec_handle(exec), node_handle(node));
    call(
        "cuGraphNodeSetEnabled",
        Named::Handle(exec),
        |_, mut state| state.set_enabled(exec, node, is_enabled != 0),
    )
}

pub(super) unsafe extern "C" fn cuGraphNodeGetEnabled(
    exec: CUgraphExec,
    node: CUgraphNode,
    is_enabled: *mut c_uint,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let out = unsafe { Out::new(is_enabled) };
    let (exec, node) = (exec_handle(exec), node_handle(node));
    call(
        "cuGraphNodeGetEnabled",
        Named::Handle(exec),
        |_, mut state| {
            let is_enabled = state.is_enabled(exec, node)?;
            out?.set(c_uint::from(is_enabled))
        },
    )
}
