//! Contexts, the thread's context stack, and peer access.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::registry::{Handle, Named, with_stack};
use scoped_cuda_sys::{CUcontext, CUdevice, CUresult};
use std::ffi::{c_int, c_uint, c_ulonglong};

fn handle(context: CUcontext) -> Handle {
    Handle::from_ptr(context.as_ptr())
}

fn raw(context: Handle) -> CUcontext {
    CUcontext::from_ptr(context.as_ptr())
}

pub(super) unsafe extern "C" fn cuDevicePrimaryCtxRetain(
    context: *mut CUcontext,
    device: CUdevice,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let context = unsafe { Out::new(context) };
    call(
        "cuDevicePrimaryCtxRetain",
        Named::Device(device),
        |machine, mut state| {
            let device = machine.device(device)?;
            if let Some(code) = state.fault.filter(|_| !state.is_active(device)) {
                return Err(machine.stopped(state, code));
            }
            context?.set(raw(state.retain(device)))
        },
    )
}

pub(super) unsafe extern "C" fn cuDevicePrimaryCtxRelease(device: CUdevice) -> CUresult {
    call(
        "cuDevicePrimaryCtxRelease",
        Named::Device(device),
        |machine, state| {
            let device = machine.device(device)?;
            machine.release(state, device)
        },
    )
}

pub(super) unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    device: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let flags = unsafe { Out::new(flags) };
    // SAFETY: null or valid for the call.
    let active = unsafe { Out::new(active) };
    call(
        "cuDevicePrimaryCtxGetState",
        Named::Device(device),
        |machine, state| {
            let device = machine.device(device)?;
            let found = &state.devices[device];
            let (flags, active) = (flags?, active?);
            flags.set(found.flags)?;
            active.set(c_int::from(state.is_active(device)))
        },
    )
}

pub(super) unsafe extern "C" fn cuDevicePrimaryCtxSetFlags(
    device: CUdevice,
    flags: c_uint,
) -> CUresult {
    call(
        "cuDevicePrimaryCtxSetFlags",
        Named::Device(device),
        |machine, mut state| {
            let device = machine.device(device)?;
            state.devices[device].flags = flags;
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuDevicePrimaryCtxReset(device: CUdevice) -> CUresult {
    call(
        "cuDevicePrimaryCtxReset",
        Named::Device(device),
        |machine, state| {
            let device = machine.device(device)?;
            drop(machine.reset(state, device));
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuCtxCreate(
    context: *mut CUcontext,
    _flags: c_uint,
    device: CUdevice,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let context = unsafe { Out::new(context) };
    call(
        "cuCtxCreate",
        Named::Device(device),
        |machine, mut state| {
            let (device, context) = (machine.device(device)?, context?);
            let created = state.create_context(device);
            with_stack(|stack| stack.push(created));
            context.set(raw(created))
        },
    )
}

pub(super) unsafe extern "C" fn cuCtxDestroy(context: CUcontext) -> CUresult {
    let context = handle(context);
    call("cuCtxDestroy", Named::Handle(context), |machine, state| {
        let found = state
            .context(context)
            .map_err(|_| CUresult::INVALID_CONTEXT)?;
        if state.is_primary(context) {
            return Err(CUresult::INVALID_CONTEXT);
        }
        with_stack(|stack| {
            if stack.last() == Some(&context) {
                stack.pop()
            } else {
                None
            }
        });
        drop(machine.end(state, found));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuCtxGetCurrent(context: *mut CUcontext) -> CUresult {
    // SAFETY: null or valid for the call.
    let context = unsafe { Out::new(context) };
    call("cuCtxGetCurrent", Named::Current, |_, _| {
        let top = with_stack(|stack| stack.last().copied()).flatten();
        context?.set(raw(top.unwrap_or(Handle::NULL)))
    })
}

pub(super) unsafe extern "C" fn cuCtxSetCurrent(context: CUcontext) -> CUresult {
    let context = handle(context);
    call("cuCtxSetCurrent", Named::Handle(context), |_, state| {
        if context != Handle::NULL && !state.contexts.contains_key(&context) {
            return Err(CUresult::INVALID_CONTEXT);
        }
        with_stack(|stack| {
            stack.pop();
            stack.extend((context != Handle::NULL).then_some(context));
        });
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuCtxPushCurrent(context: CUcontext) -> CUresult {
    let context = handle(context);
    call("cuCtxPushCurrent", Named::Handle(context), |_, state| {
        if context == Handle::NULL {
            return Err(CUresult::INVALID_VALUE);
        }
        // A dead context can be pushed, too.
        if !state.contexts.contains_key(&context) {
            return Err(CUresult::INVALID_CONTEXT);
        }
        with_stack(|stack| stack.push(context)).ok_or(CUresult::DEINITIALIZED)
    })
}

pub(super) unsafe extern "C" fn cuCtxPopCurrent(context: *mut CUcontext) -> CUresult {
    // SAFETY: null or valid for the call.
    let context = unsafe { Out::new(context) };
    call("cuCtxPopCurrent", Named::Current, |_, _| {
        let top = with_stack(Vec::pop)
            .flatten()
            .ok_or(CUresult::INVALID_CONTEXT)?;
        // The caller may not want to know.
        context.map_or(Ok(()), |context| context.set(raw(top)))
    })
}

pub(super) unsafe extern "C" fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong) -> CUresult {
    // SAFETY: null or valid for the call.
    let id = unsafe { Out::new(id) };
    let context = handle(context);
    call("cuCtxGetId", Named::Handle(context), |_, mut state| {
        let found = if context == Handle::NULL {
            state.current()
        } else {
            state.context(context)
        };
        if context != Handle::NULL && found == Err(CUresult::INVALID_CONTEXT) {
            state.violation(
                "cuCtxGetId of something that never was a context: the real driver may crash",
            );
        }
        id?.set(found?.id)
    })
}

pub(super) unsafe extern "C" fn cuCtxSynchronize() -> CUresult {
    call("cuCtxSynchronize", Named::Current, |machine, mut state| {
        let context = state.current()?;
        for mark in state.ends_of(context) {
            state = machine.wait(state, mark)?;
        }
        state.live(context)
    })
}

pub(super) unsafe extern "C" fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint) -> CUresult {
    call(
        "cuCtxEnablePeerAccess",
        Named::Current,
        |machine, mut state| {
            state.current()?;
            if flags != 0 {
                return Err(CUresult::INVALID_VALUE);
            }
            state.enable_peer(handle(peer), |from, to| {
                machine.simulation().peers.allow(from, to)
            })
        },
    )
}

pub(super) unsafe extern "C" fn cuCtxDisablePeerAccess(peer: CUcontext) -> CUresult {
    call("cuCtxDisablePeerAccess", Named::Current, |_, mut state| {
        state.disable_peer(handle(peer))
    })
}
