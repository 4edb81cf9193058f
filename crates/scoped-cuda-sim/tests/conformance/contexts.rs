//! The life of contexts, the thread's stack, and what is left of a context that ended.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ptr;

/// A handle that no call writes.
fn untouched() -> CUcontext {
    CUcontext::from_ptr(ptr::without_provenance_mut(0x77))
}

impl Api {
    /// `cuCtxPopCurrent`, and what it gave.
    fn pop(self) -> (CUresult, CUcontext) {
        let mut context = untouched();
        let code = cu!(self.cuCtxPopCurrent(&raw mut context));
        (code, context)
    }

    fn push(self, context: CUcontext) -> CUresult {
        cu!(self.cuCtxPushCurrent(context))
    }

    fn set(self, context: CUcontext) -> CUresult {
        more!(self.cuCtxSetCurrent(context))
    }

    /// What `cuMemAlloc` answers; its memory goes with the context.
    fn allocate(self) -> CUresult {
        let mut address = 0;
        more!(self.cuMemAlloc(&raw mut address, 256))
    }
}

/// The answer of a pop when the stack is empty.
fn empty() -> (CUresult, CUcontext) {
    (INVALID_CONTEXT, untouched())
}

/// The handle says nothing about life: it is the same again. The id does.
#[test]
fn a_primary_context_lives_from_the_first_retain_to_the_last_release() {
    on_api(|api| {
        let device = api.device(0);
        assert_eq!(api.state(device), (0, 0));
        assert_eq!(api.release(device), INVALID_CONTEXT);
        let context = api.retain(device);
        assert_eq!(api.retain(device), context);
        let (code, first) = api.id(context);
        ok(code);
        ok(api.release(device));
        assert_eq!(api.id(context), (SUCCESS, first));
        assert_eq!(api.state(device), (0, 1));
        ok(api.release(device));
        assert_eq!(api.state(device), (0, 0));
        assert_eq!(api.id(context), (CONTEXT_IS_DESTROYED, UNTOUCHED));
        assert_eq!(api.release(device), INVALID_CONTEXT);
        assert_eq!(api.retain(device), context);
        let (code, second) = api.id(context);
        ok(code);
        assert!(second > first);
        ok(api.release(device));
    });
}

#[test]
fn the_id_of_null_is_that_of_the_current_context() {
    on_api(|api| {
        let device = api.device(0);
        let context = api.retain(device);
        let null = CUcontext::NULL;
        assert_eq!(api.id(null), (INVALID_CONTEXT, UNTOUCHED));
        assert_eq!(api.within(context, || api.id(null)), api.id(context));
        ok(api.release(device));
        let dead = api.within(context, || api.id(null));
        assert_eq!(dead, (CONTEXT_IS_DESTROYED, UNTOUCHED));
    });
}

#[test]
fn a_dead_context_stays_on_the_stack_and_lives_again() {
    on_api(|api| {
        let device = api.device(0);
        let context = api.retain(device);
        ok(api.push(context));
        ok(api.release(device));
        assert_eq!(api.current(), context);
        assert_eq!(api.allocate(), CONTEXT_IS_DESTROYED);
        assert_eq!(api.pop(), (SUCCESS, context));
        assert_eq!(api.pop(), empty());
        ok(api.push(context));
        assert_eq!(api.pop(), (SUCCESS, context));
        ok(api.set(context));
        assert_eq!(api.current(), context);
        assert_eq!(api.retain(device), context);
        ok(api.allocate());
        assert_eq!(api.pop(), (SUCCESS, context));
        ok(api.release(device));
    });
}

/// What another library may do at any time. Every retain still owes its release.
#[test]
fn a_reset_ends_a_primary_context_and_leaves_the_retains() {
    on_api(|api| {
        let device = api.device(0);
        let context = api.retain(device);
        api.retain(device);
        let (_, first) = api.id(context);
        ok(api.push(context));
        ok(more!(api.cuDevicePrimaryCtxReset(device)));
        assert_eq!(api.state(device), (0, 0));
        assert_eq!(api.current(), context);
        assert_eq!(api.id(context), (CONTEXT_IS_DESTROYED, UNTOUCHED));
        assert_eq!(api.allocate(), CONTEXT_IS_DESTROYED);
        assert_eq!(api.retain(device), context);
        let (code, second) = api.id(context);
        ok(code);
        assert!(second > first);
        ok(api.allocate());
        assert_eq!(api.pop(), (SUCCESS, context));
        for _ in 0..3 {
            ok(api.release(device));
        }
        assert_eq!(api.release(device), INVALID_CONTEXT);
    });
}

#[test]
fn flags_of_a_primary_context_are_overwritten_even_while_it_is_active() {
    on_api(|api| {
        const SPIN: u32 = 1;
        const BLOCKING: u32 = 4;
        let device = api.device(0);
        let set = |flags| more!(api.cuDevicePrimaryCtxSetFlags(device, flags));
        ok(set(SPIN));
        api.retain(device);
        assert_eq!(api.state(device), (SPIN, 1));
        ok(set(BLOCKING));
        assert_eq!(api.state(device), (BLOCKING, 1));
        ok(api.release(device));
        ok(set(0));
        assert_eq!(api.state(device), (0, 0));
    });
}

/// The two contexts are those of two devices, or else one twice: the stack does not mind.
#[test]
fn the_stack_pushes_pops_and_replaces() {
    on_api(|api| {
        let devices = [
            api.device(0),
            api.device(crate::common::second(api.driver).unwrap()),
        ];
        let [a, b] = devices.map(|device| api.retain(device));
        assert_eq!(api.pop(), empty());
        assert_eq!(cu!(api.cuCtxPopCurrent(ptr::null_mut())), INVALID_CONTEXT);
        assert_eq!(api.push(CUcontext::NULL), INVALID_VALUE);
        ok(api.set(CUcontext::NULL));
        assert_eq!(api.current(), CUcontext::NULL);

        ok(api.push(a));
        ok(api.push(b));
        ok(api.set(CUcontext::NULL));
        assert_eq!(api.current(), a, "setting null pops");
        assert_eq!(api.pop(), (SUCCESS, a));
        assert_eq!(api.pop(), empty());

        ok(api.push(a));
        ok(api.push(b));
        ok(api.set(a));
        assert_eq!(api.pop(), (SUCCESS, a), "setting replaces the top");
        assert_eq!(api.pop(), (SUCCESS, a));
        assert_eq!(api.pop(), empty());

        ok(api.set(a));
        assert_eq!(api.pop(), (SUCCESS, a), "or makes the first");
        assert_eq!(api.pop(), empty());
        ok(api.push(a));
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
        assert_eq!(api.current(), CUcontext::NULL);
        for device in devices {
            ok(api.release(device));
        }
    });
}

/// What follows a destroyed context further, pushing its handle or destroying it or its objects
/// again, corrupts the real driver's heap now and then.
#[test]
fn a_destroyed_context_is_popped_and_known_to_be_gone() {
    on_api(|api| {
        let context = api.create(api.device(0));
        ok(api.id(context).0);
        ok(more!(api.cuCtxDestroy(context)));
        assert_eq!(api.current(), CUcontext::NULL);
        assert_eq!(api.id(context), (CONTEXT_IS_DESTROYED, UNTOUCHED));
    });
}

/// Only the top of the stack is popped, and only the caller's.
#[test]
fn a_context_that_is_destroyed_further_down_stays_on_the_stack() {
    on_api(|api| {
        let device = api.device(0);
        let primary = api.retain(device);
        let created = api.create(device);
        ok(api.push(primary));
        ok(more!(api.cuCtxDestroy(created)));
        assert_eq!(api.pop(), (SUCCESS, primary));
        assert_eq!(api.pop(), (SUCCESS, created));
        assert_eq!(api.pop(), empty());
        ok(api.release(device));
    });
}

/// Objects of a primary context that ended, asked for after it has come to life again. (Its stream
/// crashes the driver, sometimes, and of its event the driver says the one time that its context is
/// destroyed and the other that it is invalid.)
#[test]
fn objects_of_an_ended_context_do_not_come_back_with_it() {
    on_api(|api| {
        let device = api.device(0);
        let context = api.retain(device);
        let (address, module) = api.within(context, || {
            (api.plain(256), api.load(crate::common::PTX.as_str()))
        });
        ok(api.release(device));
        assert_eq!(api.retain(device), context);
        ok(api.push(context));
        assert_eq!(more!(api.cuMemFree(address)), INVALID_VALUE);
        let mut function = CUfunction::NULL;
        let name = c"nothing".as_ptr();
        let code = cu!(api.cuModuleGetFunction(&raw mut function, module, name));
        assert_eq!(code, INVALID_HANDLE);
        assert_eq!(api.pop(), (SUCCESS, context));
        ok(api.release(device));
    });
}
