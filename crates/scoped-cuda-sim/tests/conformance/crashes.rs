//! Where the real driver crashes, the simulated one says so. These tests run on the simulated
//! driver, whatever is under test.

use crate::common::simulated;
use crate::rig::*;
use scoped_cuda::ffi::*;
use scoped_cuda::sim::Simulation;
use std::ptr;

/// Runs a test on two devices of a simulated machine that must have reported, in the end, a
/// violation for each of `expected`.
pub(crate) fn on_simulated(expected: &[&str], test: impl FnOnce(Api, Side, Side)) {
    let driver = simulated(Simulation::default());
    let api = Api::of(driver);
    let [a, b] = [0, 1].map(|ordinal| api.side(ordinal));
    test(api, a, b);
    for side in [a, b] {
        api.close(side);
    }
    let machine = driver.machine().unwrap();
    let found = machine.violations();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(machine.live(), Default::default());
}

/// With no context current, a copy that touches pool memory of another device than its stream's.
#[test]
fn copies_of_another_devices_pool_memory_without_a_context_are_violations() {
    let expected = [
        "cuMemcpyHtoDAsync without a current context",
        "cuMemcpyDtoHAsync without a current context",
        "cuMemcpyDtoDAsync without a current context",
        "cuMemcpyDtoDAsync without a current context",
        "cuMemcpyDtoDAsync without a current context",
    ];
    on_simulated(&expected, |api, a, b| {
        let mut host = [0_u8; 256];
        let host = (&raw mut host).cast();
        let [there, there_too] = b.pooled;
        let codes = [
            cu!(api.cuMemcpyHtoDAsync(there, host, 256, a.stream)),
            cu!(api.cuMemcpyDtoHAsync(host, there, 256, a.stream)),
            cu!(api.cuMemcpyDtoDAsync(there, a.pooled[0], 256, a.stream)),
            cu!(api.cuMemcpyDtoDAsync(there, a.pooled[0], 256, b.stream)),
            cu!(api.cuMemcpyDtoDAsync(there_too, there, 256, a.stream)),
        ];
        assert_eq!(codes, [INVALID_VALUE; 5]);
    });
}

/// The neighbours of those copies, which the real driver answers.
#[test]
fn other_work_on_another_devices_memory_without_a_context_is_no_violation() {
    on_simulated(&[], |api, a, b| {
        let fill = |address| cu!(api.cuMemsetD8Async(address, 0, 256, a.stream));
        assert_eq!([fill(b.pooled[0]), fill(b.plain[0])], [INVALID_VALUE; 2]);
        let (to, from) = (b.pooled[0], a.pooled[0]);
        for stream in [a.stream, b.stream] {
            ok(cu!(api.cuMemcpyPeerAsync(
                to, b.context, from, a.context, 256, stream
            )));
            ok(api.sync(stream));
        }
    });
}

#[test]
fn waiting_for_a_stream_of_an_ended_context_is_a_violation() {
    on_simulated(
        &["cuStreamSynchronize of a stream whose context is gone"],
        |api, a, _| {
            let context = api.create(a.device);
            let stream = api.stream();
            ok(more!(api.cuCtxDestroy(context)));
            assert_eq!(api.sync(stream), CONTEXT_IS_DESTROYED);
        },
    );
}

#[test]
fn asking_what_never_was_a_context_for_its_id_is_a_violation() {
    let never = "cuCtxGetId of something that never was a context";
    on_simulated(&[never, never], |api, a, _| {
        let garbage = CUcontext::from_ptr(ptr::without_provenance_mut(0x1234));
        let stream = CUcontext::from_ptr(a.stream.as_ptr());
        for context in [garbage, stream] {
            assert_eq!(api.id(context), (INVALID_CONTEXT, UNTOUCHED));
        }
    });
}

/// With no context current, a kernel node that is added.
#[test]
fn a_kernel_node_without_a_context_is_a_violation() {
    on_simulated(
        &["cuGraphAddKernelNode with no context current"],
        |api, a, _| {
            let (mut graph, mut node) = (CUgraph::NULL, CUgraphNode::NULL);
            ok(cu!(api.cuGraphCreate(&raw mut graph, 0)));
            let parameters = CUDA_KERNEL_NODE_PARAMS {
                func: a.nothing,
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 1,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                kernelParams: ptr::null_mut(),
                extra: ptr::null_mut(),
                kern: CUkernel::NULL,
                ctx: CUcontext::NULL,
            };
            let mut add = || {
                cu!(api.cuGraphAddKernelNode(
                    &raw mut node,
                    graph,
                    ptr::null(),
                    0,
                    &raw const parameters
                ))
            };
            assert_eq!(add(), INVALID_CONTEXT);
            ok(api.within(a.context, add));
            ok(cu!(api.cuGraphDestroy(graph)));
        },
    );
}
