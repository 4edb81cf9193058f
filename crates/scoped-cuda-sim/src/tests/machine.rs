//! Faults, provoked and not, and what every call has in common.

#![allow(unsafe_code)] // raw driver calls

use super::*;

#[test]
fn after_a_fault_only_calls_without_a_device_work() {
    let program = patient();
    program
        .machine
        .kernel("add", |_| std::panic::resume_unwind(Box::new("on purpose")));
    let context = program.retain(0);
    let (stream, memory) = (program.stream(context), program.plain(context, 4));
    ok(program.launch(program.function(context), stream, memory, 1, 1));
    assert_eq!(program.machine.fault(), None);
    assert_eq!(program.sync(stream), CUresult::ILLEGAL_ADDRESS);
    assert!(program.machine.violations()[0].contains("kernel `add` panicked: on purpose"));
    assert_eq!(
        cu!(program, cuStreamDestroy, stream),
        CUresult::ILLEGAL_ADDRESS
    );
    assert_eq!(
        more!(program, cuMemFree 3020 (u64), memory),
        CUresult::ILLEGAL_ADDRESS
    );
    program.within(context, || ());
    ok(program.release(0));
    let mut again = CUcontext::NULL;
    let retained = cu!(
        program,
        cuDevicePrimaryCtxRetain,
        &raw mut again,
        program.device(0)
    );
    assert_eq!(retained, CUresult::ILLEGAL_ADDRESS);
}

#[test]
fn a_call_can_be_made_to_fail() {
    let program = patient();
    let calls = program.machine.calls();
    program.machine.clear_trace();
    program.machine.fail_call(2, CUresult::OUT_OF_MEMORY);
    program.retain(0);
    let mut context = CUcontext::NULL;
    let failed = cu!(
        program,
        cuDevicePrimaryCtxRetain,
        &raw mut context,
        program.device(0)
    );
    assert_eq!(failed, CUresult::OUT_OF_MEMORY);
    assert_eq!(program.machine.live().retains, 1);
    ok(program.release(0));
    assert_eq!(program.machine.calls(), calls + 3);
    let names = [
        "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxRelease",
    ];
    assert_eq!(program.machine.trace(), names);
    program.machine.fail_call(1, CUresult::OUT_OF_MEMORY);
    program.machine.fail_call(0, CUresult::SUCCESS);
    program.retain(0);
    program.machine.fail_call(1, CUresult::LAUNCH_FAILED);
    assert_eq!(program.release(0), CUresult::LAUNCH_FAILED);
    assert_eq!(program.machine.fault(), Some(CUresult::LAUNCH_FAILED));
}

#[test]
fn any_handle_is_answered() {
    let program = patient();
    let context = program.retain(0);
    let stream = program.stream(context);
    for garbage in [
        0_usize,
        1,
        2,
        3,
        0xdead_beef,
        usize::MAX,
        stream.as_ptr().addr() ^ 1,
        context.as_ptr().addr(),
    ] {
        let pointer: *mut c_void = ptr::without_provenance_mut(garbage);
        assert_ne!(
            cu!(program, cuStreamDestroy, CUstream::from_ptr(pointer)),
            CUresult::SUCCESS
        );
        assert_ne!(program.sync(CUstream::from_ptr(pointer)), CUresult::SUCCESS);
        assert_ne!(
            cu!(program, cuEventRecord, CUevent::from_ptr(pointer), stream),
            CUresult::SUCCESS
        );
        assert_ne!(
            cu!(program, cuModuleUnload, CUmodule::from_ptr(pointer)),
            CUresult::SUCCESS
        );
        assert_ne!(
            program.launch(CUfunction::from_ptr(pointer), stream, 0, 0, 0),
            CUresult::SUCCESS
        );
        assert_ne!(
            cu!(program, cuMemPoolDestroy, CUmemoryPool::from_ptr(pointer)),
            CUresult::SUCCESS
        );
        let freed = cu!(program, cuMemFreeAsync, garbage as u64, stream);
        assert_eq!(freed == CUresult::SUCCESS, garbage == 0);
        let mut device = 0;
        assert_eq!(
            cu!(program, cuDeviceGet, &raw mut device, -1),
            CUresult::INVALID_DEVICE
        );
    }
    for number in [2, 64, c_int::MAX] {
        let mut device = 0;
        let ordinal = program.machine.first_ordinal().saturating_add(number);
        if number != 64 {
            assert_eq!(
                cu!(program, cuDeviceGet, &raw mut device, ordinal),
                CUresult::INVALID_DEVICE
            );
        }
    }
}

#[test]
fn codes_have_names_and_texts() {
    let program = patient();
    let mut name = ptr::null();
    ok(cu!(
        program,
        cuGetErrorName,
        CUresult::ILLEGAL_ADDRESS,
        &raw mut name
    ));
    // SAFETY: the driver gave a string of its own.
    let text = unsafe { CStr::from_ptr(name) };
    assert_eq!(text, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    ok(cu!(
        program,
        cuGetErrorString,
        CUresult::SUCCESS,
        &raw mut name
    ));
    // SAFETY: the driver gave a string of its own.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"no error");
    assert_eq!(
        cu!(program, cuGetErrorName, CUresult(12_345), &raw mut name),
        CUresult::INVALID_VALUE
    );
    assert!(name.is_null());
}

#[test]
fn threads_share_a_machine_and_not_a_stack() {
    let program = program(Simulation::default());
    program.adds();
    let context = program.retain(0);
    let function = program.function(context);
    ok(cu!(program, cuCtxPushCurrent, context));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(program.machine.stack_depth(), 0);
                let (stream, pool) = (program.stream(context), program.pool(0));
                for _ in 0..50 {
                    let memory = program.allocate(pool, stream, 4);
                    ok(cu!(program, cuMemsetD32Async, memory, 0, 1, stream));
                    (0..4).for_each(|_| ok(program.launch(function, stream, memory, 1, 2)));
                    assert_eq!(program.read(memory, stream), 8_u32.to_ne_bytes());
                    ok(cu!(program, cuMemFreeAsync, memory, stream));
                }
                ok(cu!(program, cuStreamDestroy, stream));
                ok(cu!(program, cuMemPoolDestroy, pool));
            });
        }
    });
    ok(cu!(program, cuCtxPopCurrent, ptr::null_mut()));
    ok(program.release(0));
    assert_eq!(program.machine.live(), Live::default());
    assert!(program.machine.violations().is_empty());
}
