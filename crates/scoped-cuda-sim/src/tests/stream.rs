//! Events and host functions.

#![allow(unsafe_code)] // raw driver calls

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn an_event_stands_for_its_last_record_when_it_is_waited_for() {
    let program = patient();
    let (first, second) = (program.retain(0), program.retain(1));
    let (a, b, far) = (
        program.stream(first),
        program.stream(first),
        program.stream(second),
    );
    let (event, memory) = (program.event(first), program.plain(first, 4));
    ok(cu!(program, cuStreamWaitEvent, b, event, 0));
    ok(more!(program, cuEventSynchronize 2000 (CUevent), event));
    assert_eq!(
        cu!(program, cuEventRecord, event, far),
        CUresult::INVALID_HANDLE
    );
    ok(cu!(program, cuMemsetD8Async, memory, 1, 4, a));
    ok(cu!(program, cuEventRecord, event, a));
    ok(cu!(program, cuStreamWaitEvent, b, event, 0));
    ok(cu!(program, cuStreamWaitEvent, far, event, 0));
    ok(cu!(program, cuMemsetD8Async, memory, 2, 4, a));
    ok(cu!(program, cuEventRecord, event, a));
    assert_eq!(
        more!(program, cuEventQuery 2000 (CUevent), event),
        CUresult::NOT_READY
    );
    assert_eq!(program.read(memory, b), [1; 4]);
    ok(cu!(program, cuStreamDestroy, a));
    ok(more!(program, cuEventSynchronize 2000 (CUevent), event));
    ok(cu!(program, cuEventDestroy, event));
    assert_eq!(
        cu!(program, cuEventDestroy, event),
        CUresult::INVALID_HANDLE
    );
    assert_eq!(program.read(memory, b), [2; 4]);
}

/// What the host function of a test gets: it waits, and says what its driver call returned.
struct Gate {
    open: mpsc::Receiver<()>,
    said: mpsc::Sender<CUresult>,
    call: unsafe extern "C" fn(*mut CUcontext) -> CUresult,
}

unsafe extern "C" fn pass_gate(gate: *mut c_void) {
    // SAFETY: the test passes a gate that it keeps until it has heard from it.
    let gate = unsafe { &*gate.cast::<Gate>() };
    gate.open.recv().unwrap();
    let mut context = CUcontext::NULL;
    // SAFETY: the out-pointer is valid for the call.
    let code = unsafe { (gate.call)(&raw mut context) };
    gate.said.send(code).unwrap();
}

#[test]
fn a_host_function_holds_its_stream_and_may_not_call_the_driver() {
    let program = program(Simulation::default().latency(Duration::ZERO));
    let context = program.retain(0);
    let (stream, memory) = (program.stream(context), program.plain(context, 4));
    let (open, receive) = mpsc::channel();
    let (said, heard) = mpsc::channel();
    let mut gate = Gate {
        open: receive,
        said,
        call: program.cu.cuCtxGetCurrent,
    };
    let data: *mut c_void = (&raw mut gate).cast();
    ok(
        more!(program, cuLaunchHostFunc 10000 (CUstream, CUhostFn, *mut c_void), stream, pass_gate, data),
    );
    ok(cu!(program, cuMemsetD8Async, memory, 1, 4, stream));
    let free = program.stream(context);
    assert_eq!(program.read(memory, free), [0xCD; 4]);
    assert_eq!(cu!(program, cuStreamQuery, stream), CUresult::NOT_READY);
    open.send(()).unwrap();
    ok(program.sync(stream));
    assert_eq!(heard.recv().unwrap(), CUresult::NOT_PERMITTED);
    assert_eq!(program.read(memory, free), [1; 4]);
}

unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: the test passes a counter that lives as long as the process.
    let counter = unsafe { &*counter.cast::<AtomicU32>() };
    counter.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_fault_drops_pending_host_functions() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    let program = patient();
    let stream = program.stream(program.retain(0));
    let data: *mut c_void = (&raw const CALLED).cast_mut().cast();
    let enqueue = || more!(program, cuLaunchHostFunc 10000 (CUstream, CUhostFn, *mut c_void), stream, count, data);
    ok(enqueue());
    ok(program.sync(stream));
    ok(enqueue());
    program.machine.fail_call(1, CUresult::ECC_UNCORRECTABLE);
    assert_eq!(program.sync(stream), CUresult::ECC_UNCORRECTABLE);
    assert_eq!(program.sync(stream), CUresult::ECC_UNCORRECTABLE);
    assert_eq!(CALLED.load(Ordering::Relaxed), 1);
}

#[test]
fn timed_events_take_the_time_at_which_the_stream_comes_to_them() {
    let program = patient();
    let context = program.retain(0);
    let stream = program.stream(context);
    let timed = || {
        let mut event = CUevent::NULL;
        program.within(context, || {
            ok(cu!(
                program,
                cuEventCreate,
                &raw mut event,
                CU_EVENT_DEFAULT
            ))
        });
        event
    };
    let (start, end, untimed) = (timed(), timed(), program.event(context));
    let mut milliseconds = -1.0;
    let mut elapsed = |start, end| {
        let code = cu!(
            program,
            cuEventElapsedTime,
            &raw mut milliseconds,
            start,
            end
        );
        (code, milliseconds)
    };
    assert_eq!(elapsed(start, end).0, CUresult::INVALID_HANDLE);
    for event in [start, end, untimed] {
        ok(cu!(program, cuEventRecord, event, stream));
    }
    assert_eq!(elapsed(start, end), (CUresult::NOT_READY, -1.0));
    assert_eq!(elapsed(start, untimed).0, CUresult::INVALID_HANDLE);
    ok(program.sync(stream));
    let (code, forth) = elapsed(start, end);
    ok(code);
    let (code, back) = elapsed(end, start);
    ok(code);
    assert!(forth >= 0.0 && back == -forth, "{forth} {back}");
    assert_eq!(elapsed(end, end), (CUresult::SUCCESS, 0.0));
}

#[test]
fn a_priority_out_of_range_is_moved_into_it() {
    let program = patient();
    let context = program.retain(0);
    let (mut least, mut greatest) = (1, 1);
    assert_eq!(
        cu!(
            program,
            cuCtxGetStreamPriorityRange,
            &raw mut least,
            &raw mut greatest
        ),
        CUresult::INVALID_CONTEXT
    );
    let created = program.within(context, || {
        ok(cu!(
            program,
            cuCtxGetStreamPriorityRange,
            &raw mut least,
            &raw mut greatest
        ));
        [-1000, -1, 1000].map(|priority| {
            let (mut stream, flags) = (CUstream::NULL, CU_STREAM_NON_BLOCKING);
            ok(cu!(
                program,
                cuStreamCreateWithPriority,
                &raw mut stream,
                flags,
                priority
            ));
            stream
        })
    });
    assert_eq!((least, greatest), (0, -5));
    let priorities = created.map(|stream| {
        let mut priority = 1;
        ok(more!(program, cuStreamGetPriority 5050 (CUstream, *mut c_int), stream, &raw mut priority));
        priority
    });
    assert_eq!(priorities, [-5, -1, 0]);
}
