//! Graphs. All calls that the driver cannot make without a current context are made under one.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::c_uint;

/// An empty graph.
pub(crate) fn graph_create(driver: Api) -> Result<CUgraph> {
    let mut graph = CUgraph::NULL;
    // SAFETY: the out-pointer is valid for the call.
    driver.call("cuGraphCreate", |s| unsafe {
        (s.cuGraphCreate)(&raw mut graph, 0)
    })?;
    Ok(graph)
}

/// # Safety
/// `graph` is live and not used afterwards.
pub(crate) unsafe fn graph_destroy(driver: Api, graph: CUgraph) -> Result<()> {
    // SAFETY: the caller promises: `graph` is live and not used afterwards.
    driver.call("cuGraphDestroy", |s| unsafe { (s.cuGraphDestroy)(graph) })
}

/// # Safety
/// `graph` and the nodes, which are its own, are live; the parameters say a live function of the
/// current context, with as many pointers as it has parameters, each to a value of that parameter's
/// size.
pub(crate) unsafe fn graph_add_kernel_node(
    driver: Api,
    graph: CUgraph,
    after: &[CUgraphNode],
    parameters: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<CUgraphNode> {
    let mut node = CUgraphNode::NULL;
    driver.call("cuGraphAddKernelNode", |s| {
        // SAFETY: what `graph_add_kernel_node` asks of its caller; the other pointers are valid for
        // the call.
        unsafe {
            (s.cuGraphAddKernelNode)(
                &raw mut node,
                graph,
                after.as_ptr(),
                after.len(),
                parameters,
            )
        }
    })?;
    Ok(node)
}

/// # Safety
/// `graph`, the nodes, which are its own, and `context` are live.
pub(crate) unsafe fn graph_add_memcpy_node(
    driver: Api,
    graph: CUgraph,
    after: &[CUgraphNode],
    copy: &CUDA_MEMCPY3D,
    context: CUcontext,
) -> Result<CUgraphNode> {
    let mut node = CUgraphNode::NULL;
    driver.call("cuGraphAddMemcpyNode", |s| {
        // SAFETY: the caller promises: `graph`, the nodes, which are its own, and `context` are
        // live; the other pointers are valid for the call.
        unsafe {
            (s.cuGraphAddMemcpyNode)(
                &raw mut node,
                graph,
                after.as_ptr(),
                after.len(),
                copy,
                context,
            )
        }
    })?;
    Ok(node)
}

/// # Safety
/// `graph`, the nodes, which are its own, and `context` are live.
pub(crate) unsafe fn graph_add_memset_node(
    driver: Api,
    graph: CUgraph,
    after: &[CUgraphNode],
    parameters: &CUDA_MEMSET_NODE_PARAMS,
    context: CUcontext,
) -> Result<CUgraphNode> {
    let mut node = CUgraphNode::NULL;
    driver.call("cuGraphAddMemsetNode", |s| {
        // SAFETY: the caller promises: `graph`, the nodes, which are its own, and `context` are
        // live; the other pointers are valid for the call.
        unsafe {
            (s.cuGraphAddMemsetNode)(
                &raw mut node,
                graph,
                after.as_ptr(),
                after.len(),
                parameters,
                context,
            )
        }
    })?;
    Ok(node)
}

/// # Safety
/// `graph` and the nodes, which are its own, are live.
pub(crate) unsafe fn graph_add_empty_node(
    driver: Api,
    graph: CUgraph,
    after: &[CUgraphNode],
) -> Result<CUgraphNode> {
    let mut node = CUgraphNode::NULL;
    driver.call("cuGraphAddEmptyNode", |s| {
        // SAFETY: the caller promises: `graph` and the nodes, which are its own, are live; the
        // other pointers are valid for the call.
        unsafe { (s.cuGraphAddEmptyNode)(&raw mut node, graph, after.as_ptr(), after.len()) }
    })?;
    Ok(node)
}

/// # Safety
/// `graph` is live.
pub(crate) unsafe fn graph_instantiate(driver: Api, graph: CUgraph) -> Result<CUgraphExec> {
    let mut exec = CUgraphExec::NULL;
    driver.call("cuGraphInstantiateWithFlags", |s| {
        // SAFETY: the caller promises: `graph` is live; the out-pointer is valid for the call.
        unsafe { (s.cuGraphInstantiateWithFlags)(&raw mut exec, graph, 0) }
    })?;
    Ok(exec)
}

/// # Safety
/// `exec` is live and not used afterwards.
pub(crate) unsafe fn graph_exec_destroy(driver: Api, exec: CUgraphExec) -> Result<()> {
    // SAFETY: the caller promises: `exec` is live and not used afterwards.
    driver.call("cuGraphExecDestroy", |s| unsafe {
        (s.cuGraphExecDestroy)(exec)
    })
}

/// # Safety
/// Both are live and of one context.
pub(crate) unsafe fn graph_upload(driver: Api, exec: CUgraphExec, stream: CUstream) -> Result<()> {
    // SAFETY: the caller promises: both are live and of one context.
    driver.call("cuGraphUpload", |s| unsafe {
        (s.cuGraphUpload)(exec, stream)
    })
}

/// # Safety
/// Both are live and of one context; what the nodes touch stays valid and otherwise untouched until
/// the stream has passed this point.
#[inline]
pub(crate) unsafe fn graph_launch(driver: Api, exec: CUgraphExec, stream: CUstream) -> Result<()> {
    // SAFETY: the caller promises: both are live and of one context; what the nodes touch stays
    // valid and otherwise untouched until the stream has passed this point.
    driver.call("cuGraphLaunch", |s| unsafe {
        (s.cuGraphLaunch)(exec, stream)
    })
}

/// # Safety
/// `exec` is live, `node` is a kernel node of its graph, and the parameters are as in
/// [`graph_add_kernel_node`].
pub(crate) unsafe fn graph_exec_kernel_node_set_params(
    driver: Api,
    exec: CUgraphExec,
    node: CUgraphNode,
    parameters: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<()> {
    // SAFETY: the caller promises: `exec` is live, `node` is a kernel node of its graph, and the
    // parameters are as in [`graph_add_kernel_node`].
    driver.call("cuGraphExecKernelNodeSetParams", |s| unsafe {
        (s.cuGraphExecKernelNodeSetParams)(exec, node, parameters)
    })
}

/// # Safety
/// `exec` is live and `node` is a node of its graph.
pub(crate) unsafe fn graph_node_set_enabled(
    driver: Api,
    exec: CUgraphExec,
    node: CUgraphNode,
    is_enabled: bool,
) -> Result<()> {
    // SAFETY: the caller promises: `exec` is live and `node` is a node of its graph.
    driver.call("cuGraphNodeSetEnabled", |s| unsafe {
        (s.cuGraphNodeSetEnabled)(exec, node, c_uint::from(is_enabled))
    })
}

/// # Safety
/// As [`graph_node_set_enabled`].
pub(crate) unsafe fn graph_node_is_enabled(
    driver: Api,
    exec: CUgraphExec,
    node: CUgraphNode,
) -> Result<bool> {
    let mut is_enabled = 0;
    driver.call("cuGraphNodeGetEnabled", |s| {
        // SAFETY: the caller promises what `graph_node_set_enabled` asks for; the out-pointer is
        // valid for the call.
        unsafe { (s.cuGraphNodeGetEnabled)(exec, node, &raw mut is_enabled) }
    })?;
    Ok(is_enabled != 0)
}
