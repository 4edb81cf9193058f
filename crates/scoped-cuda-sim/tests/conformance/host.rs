//! Page-locked host memory.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::c_void;
use std::ptr;

fn allocate(api: Api) -> (CUresult, *mut c_void) {
    let mut memory = ptr::null_mut();
    let code = cu!(api.cuMemHostAlloc(&raw mut memory, 4096, 0));
    (code, memory)
}

#[test]
fn it_is_allocated_in_whatever_context_is_current_and_freed_once() {
    on_sides(|api, sides| {
        assert_eq!(allocate(api).0, INVALID_CONTEXT);
        for side in sides {
            let (code, memory) = api.within(side.context, || allocate(api));
            ok(code);
            ok(cu!(api.cuMemFreeHost(memory)));
            assert_eq!(cu!(api.cuMemFreeHost(memory)), INVALID_VALUE);
        }
    });
}

#[test]
fn copies_to_it_do_not_wait() {
    on_sides(|api, sides| {
        let side = sides[0];
        let (code, memory) = api.within(side.context, || allocate(api));
        ok(code);
        let gate = api.gate(side.stream);
        let copy = || cu!(api.cuMemcpyDtoHAsync(memory, side.plain[0], 4096, side.stream));
        ok(api.within(side.context, copy));
        assert_eq!(cu!(api.cuStreamQuery(side.stream)), NOT_READY);
        drop(gate);
        ok(api.sync(side.stream));
        ok(cu!(api.cuMemFreeHost(memory)));
    });
}

#[test]
fn memory_is_registered_and_unregistered_once() {
    on_sides(|api, sides| {
        let mut own = vec![0_u8; 1 << 20];
        let first: *mut c_void = own.as_mut_ptr().cast();
        api.within(sides[0].context, || {
            let register = || cu!(api.cuMemHostRegister(first, 1 << 20, 0));
            ok(register());
            assert_eq!(register(), CUresult::HOST_MEMORY_ALREADY_REGISTERED);
            ok(cu!(api.cuMemHostUnregister(first)));
            let again = cu!(api.cuMemHostUnregister(first));
            assert_eq!(again, CUresult::HOST_MEMORY_NOT_REGISTERED);
        });
    });
}
