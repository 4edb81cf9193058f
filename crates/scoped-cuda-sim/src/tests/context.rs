//! Contexts, the stack, peer access.

#![allow(unsafe_code)] // raw driver calls

use super::*;

#[test]
fn a_context_lives_from_the_first_retain_to_the_last_release() {
    let program = patient();
    let id = |context| {
        let mut id = 0;
        let code = cu!(program, cuCtxGetId, context, &raw mut id);
        (code, id)
    };
    assert_eq!(program.release(0), CUresult::INVALID_CONTEXT);
    let context = program.retain(0);
    assert_eq!(program.retain(0), context);
    let (_, first) = id(context);
    ok(program.release(0));
    assert_eq!(id(context), (CUresult::SUCCESS, first));
    let (stream, event, memory) = (
        program.stream(context),
        program.event(context),
        program.plain(context, 4),
    );
    ok(program.release(0));
    assert_eq!(program.machine.live(), Live::default());
    assert_eq!(id(context).0, CUresult::CONTEXT_IS_DESTROYED);
    assert_eq!(
        cu!(program, cuStreamDestroy, stream),
        CUresult::CONTEXT_IS_DESTROYED
    );
    assert_eq!(
        more!(program, cuEventQuery 2000 (CUevent), event),
        CUresult::CONTEXT_IS_DESTROYED
    );
    assert_eq!(
        more!(program, cuMemFree 3020 (u64), memory),
        CUresult::INVALID_VALUE
    );
    assert!(program.machine.violations().is_empty());
    assert_eq!(program.sync(stream), CUresult::CONTEXT_IS_DESTROYED);
    assert_eq!(program.machine.violations().len(), 1);
    assert_eq!(program.retain(0), context);
    assert!(id(context).1 > first);
    assert_eq!(program.sync(stream), CUresult::CONTEXT_IS_DESTROYED);
}

#[test]
fn a_reset_leaves_every_retain_owed() {
    let program = patient();
    let context = program.retain(0);
    program.retain(0);
    ok(cu!(program, cuCtxPushCurrent, context));
    program.machine.reset_primary(0);
    let mut current = CUcontext::NULL;
    ok(cu!(program, cuCtxGetCurrent, &raw mut current));
    assert_eq!(current, context);
    let mut stream = CUstream::NULL;
    assert_eq!(
        cu!(program, cuStreamCreate, &raw mut stream, 1),
        CUresult::CONTEXT_IS_DESTROYED
    );
    ok(cu!(program, cuCtxPopCurrent, ptr::null_mut()));
    ok(program.release(0));
    ok(program.release(0));
    assert_eq!(program.release(0), CUresult::INVALID_CONTEXT);
}

#[test]
fn the_stack_takes_dead_contexts_and_no_null() {
    let program = patient();
    assert_eq!(
        cu!(program, cuCtxPopCurrent, ptr::null_mut()),
        CUresult::INVALID_CONTEXT
    );
    assert_eq!(
        cu!(program, cuCtxPushCurrent, CUcontext::NULL),
        CUresult::INVALID_VALUE
    );
    let mut made = CUcontext::NULL;
    let device = program.device(1);
    ok(more!(program, cuCtxCreate 3020 (*mut CUcontext, c_uint, c_int), &raw mut made, 0, device));
    assert_eq!(program.machine.stack_depth(), 1);
    ok(more!(program, cuCtxDestroy 4000 (CUcontext), made));
    assert_eq!(program.machine.stack_depth(), 0);
    assert_eq!(
        more!(program, cuCtxDestroy 4000 (CUcontext), made),
        CUresult::INVALID_CONTEXT
    );
    ok(cu!(program, cuCtxPushCurrent, made));
    let first = program.retain(0);
    ok(more!(program, cuCtxSetCurrent 4000 (CUcontext), first));
    assert_eq!(program.machine.stack_depth(), 1);
    ok(more!(program, cuCtxSetCurrent 4000 (CUcontext), CUcontext::NULL));
    assert_eq!(program.machine.stack_depth(), 0);
}

#[test]
fn creation_uses_whatever_context_is_current() {
    let program = patient();
    let (first, second) = (program.retain(0), program.retain(1));
    let mut stream = CUstream::NULL;
    assert_eq!(
        cu!(program, cuStreamCreate, &raw mut stream, 1),
        CUresult::INVALID_CONTEXT
    );
    let stream = program.stream(second);
    let mut home = CUcontext::NULL;
    ok(more!(program, cuStreamGetCtx 9020 (CUstream, *mut CUcontext), stream, &raw mut home));
    assert_eq!(home, second);
    assert_ne!(home, first);
}

#[test]
fn memory_of_another_device_needs_directed_peer_access() {
    let program = program(Simulation::default().peers(Peers::Only(vec![(0, 1)])));
    program.adds();
    let (first, second) = (program.retain(0), program.retain(1));
    let (stream, far) = (program.stream(first), program.stream(second));
    let enable = |peer| more!(program, cuCtxEnablePeerAccess 4000 (CUcontext, c_uint), peer, 0);
    let disable = |peer| more!(program, cuCtxDisablePeerAccess 4000 (CUcontext), peer);
    let mut can = [-1; 2];
    ok(cu!(
        program,
        cuDeviceCanAccessPeer,
        &raw mut can[0],
        program.device(0),
        program.device(1)
    ));
    ok(cu!(
        program,
        cuDeviceCanAccessPeer,
        &raw mut can[1],
        program.device(1),
        program.device(0)
    ));
    assert_eq!(can, [1, 0]);
    assert_eq!(
        program.within(second, || enable(first)),
        CUresult::PEER_ACCESS_UNSUPPORTED
    );
    assert_eq!(
        program.within(first, || disable(second)),
        CUresult::PEER_ACCESS_NOT_ENABLED
    );
    ok(program.within(first, || enable(second)));
    assert_eq!(
        program.within(first, || enable(second)),
        CUresult::PEER_ACCESS_ALREADY_ENABLED
    );
    let (here, there) = (program.plain(first, 4), program.plain(second, 4));
    ok(cu!(program, cuMemsetD32Async, there, 1, 1, far));
    ok(program.sync(far));
    ok(program.launch(program.function(first), stream, there, 1, 1));
    ok(program.sync(stream));
    assert_eq!(program.read(there, far), 2_u32.to_ne_bytes());
    ok(program.launch(program.function(second), far, here, 1, 1));
    assert_eq!(program.sync(far), CUresult::ILLEGAL_ADDRESS);
    assert_eq!(program.sync(stream), CUresult::ILLEGAL_ADDRESS);
}
