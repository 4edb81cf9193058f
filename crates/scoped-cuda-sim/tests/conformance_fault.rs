//! What the driver answers after a kernel's fault. The fault ends the use of CUDA in this process:
//! one test, alone in its binary.

#![allow(unsafe_code)] // raw driver calls

#[path = "../../../tests/common/mod.rs"]
mod common;
#[macro_use]
#[path = "conformance/rig.rs"]
mod rig;

use common::{PTX, real, simulated, stack};
use rig::*;
use scoped_cuda::Driver;
use scoped_cuda::ffi::*;
use scoped_cuda::sim::Simulation;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::mpsc;

const FAULT: CUresult = CUresult::ILLEGAL_ADDRESS;

/// The launch of a kernel that stores to an address nobody has succeeds; whoever waits hears of it;
/// from then on nothing that needs a device works, on any device of the process. What the driver
/// knows by itself, the context stack included, stays right.
#[test]
fn after_a_fault_only_what_needs_no_device_works() {
    let driver = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    let api = Api::of(driver);
    let count = driver.device_count().unwrap().min(2);
    let sides: Vec<Side> = (0..count).map(|ordinal| api.side(ordinal)).collect();
    let (first, last) = (sides[0], sides[sides.len() - 1]);
    let spare = Spare::of(api, first, last);
    ok(cu!(api.cuEventRecord(first.event, first.stream)));
    ok(api.sync(first.stream));

    fault(api, first);
    for side in &sides {
        refuses_work(api, *side);
    }
    the_stack_is_right(api, first.context, last.context);
    knows_what_needs_no_device(api, first, last);
    creation_misses_a_context_first(api, last.context);
    refuses_to_destroy(api, first, last, spare);
    contexts_are_released_and_do_not_come_back(api, &sides);
    assert_eq!(stack(driver), []);
}

/// Objects that are only there to be destroyed.
struct Spare {
    stream: CUstream,
    event: CUevent,
    module: CUmodule,
    plain: CUdeviceptr,
    pool: CUmemoryPool,
    /// A context that was created on another device than the one with the fault.
    context: Option<CUcontext>,
}

impl Spare {
    fn of(api: Api, side: Side, away: Side) -> Self {
        let context = (away.device != side.device).then(|| {
            let created = api.create(away.device);
            ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
            created
        });
        api.within(side.context, || Self {
            stream: api.stream(),
            event: api.event(),
            module: api.load(PTX.as_str()),
            plain: api.plain(256),
            pool: api.pool(side.device),
            context,
        })
    }
}

/// Provokes the fault. A host function behind it is never called.
fn fault(api: Api, side: Side) {
    let kernel = api.function(side.module, "fault");
    let mut address = side.plain[0];
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    ok(more!(api.cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        side.stream,
        arguments.as_mut_ptr(),
        ptr::null_mut()
    )));
    let (called, calls) = mpsc::channel();
    // Whether the fault is there already when this is enqueued is a race, and not the question.
    let _ = api.host(side.stream, move || called.send(()).unwrap());
    assert_eq!(api.sync(side.stream), FAULT);
    assert!(calls.recv_timeout(WATCH).is_err(), "a host function ran");
}

fn refuses_work(api: Api, side: Side) {
    let stream = side.stream;
    let (mut address, mut value, mut size) = (0, 0, 0);
    let (mut function, mut home) = (CUfunction::NULL, CUcontext::NULL);
    let info = api.cu.cuFuncGetParamInfo.unwrap();
    let name = c"nothing".as_ptr();
    let attribute = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    let refused = |call: &str, code| assert_eq!(code, FAULT, "{call}");
    refused("synchronize", api.sync(stream));
    refused("query", cu!(api.cuStreamQuery(stream)));
    refused("context", more!(api.cuStreamGetCtx(stream, &raw mut home)));
    refused("event query", more!(api.cuEventQuery(side.event)));
    refused("event wait", more!(api.cuEventSynchronize(side.event)));
    refused("record", cu!(api.cuEventRecord(side.event, stream)));
    refused("wait", cu!(api.cuStreamWaitEvent(stream, side.event, 0)));
    refused("host function", api.host(stream, || ()));
    refused("launch", api.launch(side.nothing, stream));
    refused(
        "function",
        cu!(api.cuModuleGetFunction(&raw mut function, side.module, name)),
    );
    refused(
        "attribute",
        cu!(api.cuFuncGetAttribute(&raw mut value, attribute, side.nothing)),
    );
    // SAFETY: the out-pointers are valid for the call.
    let code = unsafe { info(side.nothing, 0, &raw mut size, ptr::null_mut()) };
    refused("parameter", code);
    refused(
        "allocate",
        cu!(api.cuMemAllocFromPoolAsync(&raw mut address, 256, side.pool, stream)),
    );
}

fn the_stack_is_right(api: Api, a: CUcontext, b: CUcontext) {
    let pop = || {
        let mut context = CUcontext::NULL;
        (cu!(api.cuCtxPopCurrent(&raw mut context)), context)
    };
    ok(cu!(api.cuCtxPushCurrent(a)));
    ok(cu!(api.cuCtxPushCurrent(b)));
    ok(cu!(api.cuCtxPushCurrent(a)));
    assert_eq!(api.current(), a);
    ok(more!(api.cuCtxSetCurrent(b)));
    assert_eq!(api.current(), b);
    ok(more!(api.cuCtxSetCurrent(CUcontext::NULL)));
    assert_eq!([pop(), pop()], [(SUCCESS, b), (SUCCESS, a)]);
    assert_eq!(pop(), (INVALID_CONTEXT, CUcontext::NULL));
    assert_eq!(api.id(CUcontext::NULL), (INVALID_CONTEXT, UNTOUCHED));
}

fn knows_what_needs_no_device(api: Api, first: Side, last: Side) {
    let (mut number, mut version, mut bytes) = (0, 0, 0);
    let (mut device, mut uuid) = (-1, CUuuid::default());
    let mut text: [c_char; 100] = [0; 100];
    let mut name = ptr::null();
    ok(api.id(first.context).0);
    ok(api.id(last.context).0);
    ok(cu!(api.cuDriverGetVersion(&raw mut version)));
    ok(cu!(api.cuDeviceGetCount(&raw mut number)));
    ok(cu!(api.cuDeviceGet(&raw mut device, last.device)));
    assert_eq!(device, last.device);
    ok(cu!(api.cuDeviceGetAttribute(
        &raw mut number,
        16,
        first.device
    )));
    ok(cu!(api.cuDeviceGetName(
        text.as_mut_ptr(),
        100,
        first.device
    )));
    ok(cu!(api.cuDeviceGetPCIBusId(
        text.as_mut_ptr(),
        100,
        first.device
    )));
    ok(cu!(api.cuDeviceGetUuid(&raw mut uuid, first.device)));
    ok(cu!(api.cuDeviceTotalMem(&raw mut bytes, first.device)));
    ok(cu!(api.cuDeviceCanAccessPeer(
        &raw mut number,
        first.device,
        last.device
    )));
    ok(cu!(api.cuGetErrorName(FAULT, &raw mut name)));
    assert!(version > 0 && bytes > 0 && !name.is_null());
    assert_eq!(api.state(first.device), (0, 1));
    assert_eq!(api.device_of(first.plain[0]), first.device);
    ok(api.keep(first.pool));
    let pool = api.pool(first.device);
    ok(cu!(api.cuMemPoolDestroy(pool)));
}

/// Without a context, that is the answer; with one, the fault is.
fn creation_misses_a_context_first(api: Api, context: CUcontext) {
    let (mut free, mut total, mut address) = (0, 0, 0);
    let mut event = CUevent::NULL;
    let mut create = || {
        [
            cu!(api.cuMemGetInfo(&raw mut free, &raw mut total)),
            more!(api.cuMemAlloc(&raw mut address, 256)),
            cu!(api.cuEventCreate(&raw mut event, CU_EVENT_DISABLE_TIMING)),
        ]
    };
    assert_eq!(create(), [INVALID_CONTEXT; 3]);
    assert_eq!(api.within(context, create), [FAULT; 3]);
}

fn refuses_to_destroy(api: Api, first: Side, last: Side, spare: Spare) {
    let refused = [
        cu!(api.cuEventDestroy(spare.event)),
        cu!(api.cuStreamDestroy(spare.stream)),
        cu!(api.cuMemFreeAsync(first.pooled[0], first.stream)),
        cu!(api.cuMemFreeAsync(last.pooled[0], last.stream)),
        more!(api.cuMemFree(spare.plain)),
        cu!(api.cuModuleUnload(spare.module)),
    ];
    assert_eq!(refused, [FAULT; 6]);
    ok(cu!(api.cuMemPoolDestroy(spare.pool)));
    ok(cu!(api.cuMemPoolDestroy(first.pool)));
    if let Some(context) = spare.context {
        ok(more!(api.cuCtxDestroy(context)));
    }
}

/// A context that is active can be retained, but not one that ended after the fault.
fn contexts_are_released_and_do_not_come_back(api: Api, sides: &[Side]) {
    for away in &sides[1..] {
        assert_eq!(api.retain(away.device), away.context);
        ok(api.release(away.device));
    }
    for side in sides {
        ok(api.release(side.device));
        assert_eq!(api.release(side.device), INVALID_CONTEXT);
        assert_eq!(api.id(side.context), (CONTEXT_IS_DESTROYED, UNTOUCHED));
        assert_eq!(api.state(side.device), (0, 0));
    }
    let mut context = CUcontext::NULL;
    let code = cu!(api.cuDevicePrimaryCtxRetain(&raw mut context, sides[0].device));
    assert_eq!(code, FAULT);
}
