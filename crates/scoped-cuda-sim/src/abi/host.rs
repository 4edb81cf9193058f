//! Host memory.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::host::HostKind;
use crate::machine::{Machine, Outcome, State};
use crate::registry::{Handle, Named};
use crate::work::Work;
use scoped_cuda_sys::*;
use std::ffi::{c_uint, c_void};
use std::ptr;
use std::sync::Arc;

pub(super) unsafe extern "C" fn cuMemHostAlloc(
    memory: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let memory = unsafe { Out::new(memory) };
    call("cuMemHostAlloc", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, memory) = (state.current()?, memory?);
        if flags > 7 {
            return Err(CUresult::INVALID_VALUE);
        }
        let address = state.allocate_host(bytes, context, HostKind::Pinned)?;
        memory.set(ptr::with_exposed_provenance_mut(address as usize))
    })
}

pub(super) unsafe extern "C" fn cuMemFreeHost(memory: *mut c_void) -> CUresult {
    let address = memory.addr() as u64;
    call("cuMemFreeHost", Named::Address(address), |_, mut state| {
        let allocation = state.allocation(address)?;
        if !allocation.is_pinned() {
            return Err(CUresult::INVALID_VALUE);
        }
        state.mark_freed(&allocation);
        state.bury(&allocation);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuMemHostGetDevicePointer(
    address: *mut CUdeviceptr,
    memory: *mut c_void,
    flags: c_uint,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let address = unsafe { Out::new(address) };
    let host = memory.addr() as u64;
    call(
        "cuMemHostGetDevicePointer",
        Named::Address(host),
        |_, state| {
            state.current()?;
            if flags != 0 || !state.is_page_locked(host, 1) {
                return Err(CUresult::INVALID_VALUE);
            }
            address?.set(host)
        },
    )
}

pub(super) unsafe extern "C" fn cuMemHostRegister(
    memory: *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    call("cuMemHostRegister", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let context = state.current()?;
        if flags > 15 {
            return Err(CUresult::INVALID_VALUE);
        }
        state.register_host(memory.addr() as u64, bytes, context)
    })
}

pub(super) unsafe extern "C" fn cuMemHostUnregister(memory: *mut c_void) -> CUresult {
    call("cuMemHostUnregister", Named::Current, |_, mut state| {
        state.current()?;
        state.unregister_host(memory.addr() as u64)
    })
}

pub(super) unsafe extern "C" fn cuMemAllocManaged(
    address: *mut CUdeviceptr,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let address = unsafe { Out::new(address) };
    call("cuMemAllocManaged", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, address) = (state.current()?, address?);
        if flags != 1 && flags != 2 {
            return Err(CUresult::INVALID_VALUE);
        }
        address.set(state.allocate_host(bytes, context, HostKind::Managed)?)
    })
}

pub(super) unsafe extern "C" fn cuMemPrefetchAsync(
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    stream: CUstream,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    call(
        "cuMemPrefetchAsync",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            check_managed(machine, &state, address, bytes, device)?;
            // Nothing to do, in order.
            machine.enqueue(&mut state, stream, Work::Record(Arc::default()))?;
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuMemAdvise(
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> CUresult {
    call(
        "cuMemAdvise",
        Named::Address(address),
        |machine, state| match advice {
            1..=6 => check_managed(machine, &state, address, bytes, device),
            _ => Err(CUresult::INVALID_VALUE),
        },
    )
}

/// Whether these bytes are managed memory and the device exists; -1 is the host.
fn check_managed(
    machine: &Machine,
    state: &State,
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
) -> Outcome {
    if !state.place(address, bytes)?.allocation.is_managed() || bytes == 0 {
        return Err(CUresult::INVALID_VALUE);
    }
    match device {
        -1 => Ok(()),
        device => machine.device(device).map(drop),
    }
}
