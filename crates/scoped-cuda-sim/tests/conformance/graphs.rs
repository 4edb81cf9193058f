//! Graphs: what needs the current context, and what a launch does.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ptr;

fn memset(side: &Side, value: u32, bytes: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS {
        dst: side.plain[0],
        pitch: 0,
        value,
        elementSize: 1,
        width: bytes,
        height: 1,
    }
}

/// A graph that sets the first bytes of a side's memory, and its node.
fn filling(api: Api, side: &Side, value: u32) -> (CUgraph, CUgraphNode) {
    let (mut graph, mut node) = (CUgraph::NULL, CUgraphNode::NULL);
    ok(cu!(api.cuGraphCreate(&raw mut graph, 0)));
    let memset = memset(side, value, 4);
    ok(cu!(api.cuGraphAddMemsetNode(
        &raw mut node,
        graph,
        ptr::null(),
        0,
        &raw const memset,
        side.context
    )));
    (graph, node)
}

fn instantiated(api: Api, side: &Side, graph: CUgraph) -> CUgraphExec {
    let mut exec = CUgraphExec::NULL;
    ok(api.within(side.context, || {
        cu!(api.cuGraphInstantiateWithFlags(&raw mut exec, graph, 0))
    }));
    exec
}

fn launch(api: Api, side: &Side, exec: CUgraphExec) {
    ok(api.within(side.context, || cu!(api.cuGraphLaunch(exec, side.stream))));
    ok(api.sync(side.stream));
}

fn first_byte(api: Api, side: &Side) -> u8 {
    let mut byte = 0_u8;
    ok(api.within(side.context, || {
        more!(api.cuMemcpyDtoH((&raw mut byte).cast(), side.plain[0], 1))
    }));
    byte
}

/// Without a context, a memset node is added (it names its context), nothing is instantiated, and a
/// graph is launched on a stream, which names its context.
#[test]
fn instantiation_wants_a_context_and_a_launch_a_stream() {
    on_sides(|api, sides| {
        let side = &sides[0];
        let (graph, _) = filling(api, side, 7);
        let mut exec = CUgraphExec::NULL;
        let code = cu!(api.cuGraphInstantiateWithFlags(&raw mut exec, graph, 0));
        assert_eq!(code, INVALID_CONTEXT);
        let exec = instantiated(api, side, graph);
        ok(cu!(api.cuGraphLaunch(exec, side.stream)));
        ok(api.sync(side.stream));
        assert_eq!(first_byte(api, side), 7);
        ok(cu!(api.cuGraphExecDestroy(exec)));
        ok(cu!(api.cuGraphDestroy(graph)));
    });
}

/// The graph may be destroyed before its execs, and an exec is launched any number of times.
#[test]
fn an_exec_outlives_its_graph() {
    on_sides(|api, sides| {
        let side = &sides[0];
        let (graph, _) = filling(api, side, 9);
        let exec = instantiated(api, side, graph);
        ok(cu!(api.cuGraphDestroy(graph)));
        launch(api, side, exec);
        launch(api, side, exec);
        assert_eq!(first_byte(api, side), 9);
        ok(cu!(api.cuGraphExecDestroy(exec)));
    });
}

/// A graph without nodes is instantiated and launched.
#[test]
fn an_empty_graph_is_launched() {
    on_sides(|api, sides| {
        let mut graph = CUgraph::NULL;
        ok(cu!(api.cuGraphCreate(&raw mut graph, 0)));
        let exec = instantiated(api, &sides[0], graph);
        launch(api, &sides[0], exec);
        ok(cu!(api.cuGraphExecDestroy(exec)));
        ok(cu!(api.cuGraphDestroy(graph)));
    });
}

/// A node that is switched off is skipped, until it is switched on again.
#[test]
fn a_disabled_node_is_skipped() {
    on_sides(|api, sides| {
        let side = &sides[0];
        let (graph, node) = filling(api, side, 1);
        let (mut second, memset) = (CUgraphNode::NULL, memset(side, 2, 4));
        ok(cu!(api.cuGraphAddMemsetNode(
            &raw mut second,
            graph,
            &raw const node,
            1,
            &raw const memset,
            side.context
        )));
        let exec = instantiated(api, side, graph);
        let mut is_enabled = 99;
        for (switch, byte) in [(0, 1), (1, 2)] {
            ok(api.within(side.context, || {
                cu!(api.cuGraphNodeSetEnabled(exec, second, switch))
            }));
            ok(api.within(side.context, || {
                cu!(api.cuGraphNodeGetEnabled(exec, second, &raw mut is_enabled))
            }));
            launch(api, side, exec);
            assert_eq!((is_enabled, first_byte(api, side)), (switch, byte));
        }
        ok(cu!(api.cuGraphExecDestroy(exec)));
        ok(cu!(api.cuGraphDestroy(graph)));
    });
}

/// Destroying an exec in flight returns at once, and its work runs on.
#[test]
fn an_exec_destroyed_in_flight_runs_on() {
    on_sides(|api, sides| {
        let side = &sides[0];
        let (graph, _) = filling(api, side, 5);
        let exec = instantiated(api, side, graph);
        ok(api.within(side.context, || cu!(api.cuGraphLaunch(exec, side.stream))));
        ok(cu!(api.cuGraphExecDestroy(exec)));
        ok(api.sync(side.stream));
        assert_eq!(first_byte(api, side), 5);
        ok(cu!(api.cuGraphDestroy(graph)));
    });
}
