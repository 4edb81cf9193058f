//! Host memory: page-locked, registered, managed.

#![allow(unsafe_code)] // raw driver calls

use super::*;

impl Program {
    fn pinned(&self, context: CUcontext, bytes: usize) -> *mut c_void {
        let mut memory = ptr::null_mut();
        self.within(context, || {
            ok(cu!(self, cuMemHostAlloc, &raw mut memory, bytes, 3))
        });
        memory
    }

    fn managed(&self, context: CUcontext, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        self.within(context, || {
            ok(cu!(self, cuMemAllocManaged, &raw mut address, bytes, 1))
        });
        address
    }

    fn fill(&self, address: CUdeviceptr, value: u8, stream: CUstream) {
        ok(cu!(self, cuMemsetD8Async, address, value, 4, stream));
    }
}

/// The four bytes at an address of the program's.
fn bytes_at(address: usize) -> [u8; 4] {
    let memory = ptr::with_exposed_provenance::<[u8; 4]>(address);
    // SAFETY: the tests ask for live memory on which nothing is pending.
    unsafe { memory.read() }
}

#[test]
fn copies_to_page_locked_memory_do_not_block() {
    let program = patient();
    let context = program.retain(0);
    let (stream, memory) = (program.stream(context), program.plain(context, 4));
    program.fill(memory, 7, stream);
    let pinned = program.pinned(context, 4);
    assert_eq!(bytes_at(pinned.addr()), [0xCD; 4], "not initialised");
    ok(cu!(program, cuMemcpyDtoHAsync, pinned, memory, 4, stream));
    assert_eq!(cu!(program, cuStreamQuery, stream), CUresult::NOT_READY);
    ok(program.sync(stream));
    assert_eq!(bytes_at(pinned.addr()), [7; 4]);

    let mut own = [0_u8; 8];
    let first: *mut c_void = (&raw mut own).cast();
    program.within(context, || ok(cu!(program, cuMemHostRegister, first, 8, 1)));
    ok(cu!(program, cuMemcpyDtoHAsync, first, memory, 4, stream));
    assert_eq!(cu!(program, cuStreamQuery, stream), CUresult::NOT_READY);
    ok(program.sync(stream));
    program.within(context, || ok(cu!(program, cuMemHostUnregister, first)));
    ok(cu!(program, cuMemcpyDtoHAsync, first, memory, 4, stream));
    ok(cu!(program, cuStreamQuery, stream));
    assert_eq!(own, [7, 7, 7, 7, 0, 0, 0, 0]);
}

#[test]
fn host_memory_is_allocated_in_the_current_context_and_freed_from_anywhere() {
    let program = patient();
    let (context, mut memory) = (program.retain(0), ptr::null_mut());
    let none = cu!(program, cuMemHostAlloc, &raw mut memory, 4, 0);
    assert_eq!(none, CUresult::INVALID_CONTEXT);
    program.within(context, || {
        let empty = cu!(program, cuMemHostAlloc, &raw mut memory, 0, 0);
        assert_eq!(empty, CUresult::INVALID_VALUE);
        let vast = cu!(program, cuMemHostAlloc, &raw mut memory, usize::MAX / 2, 0);
        assert_eq!(vast, CUresult::OUT_OF_MEMORY);
    });
    let first = program.pinned(context, 4);
    let address = first.expose_provenance() as u64;
    assert_eq!(program.machine.live().host_allocations, 1);
    assert_eq!(program.machine.live().allocations, 0);
    assert_eq!(
        more!(program, cuMemFree 3020 (u64), address),
        CUresult::INVALID_VALUE
    );
    // By a thread that has used no machine, and then once more.
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let first = ptr::with_exposed_provenance_mut(address as usize);
            ok(cu!(program, cuMemFreeHost, first));
        });
    });
    assert_eq!(cu!(program, cuMemFreeHost, first), CUresult::INVALID_VALUE);
    program.pinned(context, 4);
    ok(program.release(0));
    assert_eq!(
        program.machine.live(),
        Live::default(),
        "it ends with its context"
    );
}

#[test]
fn registering_is_answered_as_measured() {
    let program = patient();
    let context = program.retain(0);
    let mut own = [0_u8; 100];
    let first = own.as_mut_ptr();
    let register = |offset: usize, bytes: usize| {
        let memory = first.wrapping_add(offset).cast();
        cu!(program, cuMemHostRegister, memory, bytes, 0)
    };
    let unregister = |offset: usize| {
        cu!(
            program,
            cuMemHostUnregister,
            first.wrapping_add(offset).cast()
        )
    };
    assert_eq!(register(0, 4), CUresult::INVALID_CONTEXT);
    let pinned = program.pinned(context, 4);
    program.within(context, || {
        ok(register(10, 20));
        for (offset, bytes) in [(10, 20), (0, 11), (29, 5), (15, 1), (0, 100)] {
            let code = register(offset, bytes);
            assert_eq!(code, CUresult::HOST_MEMORY_ALREADY_REGISTERED, "{offset}");
        }
        ok(register(30, 1));
        assert_eq!(register(50, 0), CUresult::INVALID_VALUE);
        assert_eq!(
            cu!(program, cuMemHostRegister, pinned, 2, 0),
            CUresult::INVALID_VALUE
        );
        assert_eq!(unregister(11), CUresult::HOST_MEMORY_NOT_REGISTERED);
        ok(unregister(10));
        assert_eq!(unregister(10), CUresult::HOST_MEMORY_NOT_REGISTERED);
    });
    assert_eq!(program.machine.live().host_registrations, 1);
    ok(program.release(0));
    assert_eq!(program.machine.live(), Live::default());
}

#[test]
fn kernels_of_every_device_reach_shared_memory() {
    let program = patient();
    program.adds();
    for device in [0, 1] {
        let (context, other) = (program.retain(0), program.retain(device));
        let (stream, function) = (program.stream(other), program.function(other));
        let pinned = program.pinned(context, 8);
        let mut address = 0;
        program.within(other, || {
            ok(cu!(
                program,
                cuMemHostGetDevicePointer,
                &raw mut address,
                pinned,
                0
            ))
        });
        for address in [address, program.managed(context, 8)] {
            program.fill(address, 1, stream);
            ok(program.launch(function, stream, address, 1, 1));
            ok(program.sync(stream));
            assert_eq!(bytes_at(address as usize), 0x0101_0102_u32.to_ne_bytes());
        }
    }
    let (device, mut address) = (program.retain(0), 0);
    let own: *mut c_void = (&raw mut address).cast();
    program.within(device, || {
        let unknown = cu!(program, cuMemHostGetDevicePointer, &raw mut address, own, 0);
        assert_eq!(unknown, CUresult::INVALID_VALUE);
    });
    assert!(program.machine.violations().is_empty());
}

#[test]
fn managed_memory_takes_advice() {
    let program = patient();
    let context = program.retain(0);
    let (stream, managed) = (program.stream(context), program.managed(context, 8));
    let plain = program.plain(context, 8);
    let advise = |address, bytes, device| {
        let advise = program.cu.cuMemAdvise.unwrap();
        // SAFETY: takes plain values.
        unsafe { advise(address, bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, device) }
    };
    let prefetch = |address, bytes, device| {
        let prefetch = program.cu.cuMemPrefetchAsync.unwrap();
        // SAFETY: the stream is live.
        unsafe { prefetch(address, bytes, device, stream) }
    };
    ok(advise(managed, 8, program.device(1)));
    ok(advise(managed, 4, -1));
    ok(prefetch(managed, 8, -1));
    for (address, bytes) in [(managed, 9), (managed, 0), (plain, 8)] {
        assert_eq!(advise(address, bytes, -1), CUresult::INVALID_VALUE);
        assert_eq!(prefetch(address, bytes, -1), CUresult::INVALID_VALUE);
    }
    assert_eq!(advise(managed, 8, -2), CUresult::INVALID_DEVICE);
    assert_eq!(program.machine.live().allocations, 2);
    ok(more!(program, cuMemFree 3020 (u64), managed));
    assert_eq!(cu!(program, cuMemFree, managed), CUresult::INVALID_VALUE);
    assert_eq!(program.machine.live().allocations, 1);
}
