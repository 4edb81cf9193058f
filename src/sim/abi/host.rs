//! Host memory.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::ffi::*;
use crate::sim::host::HostKind;
use crate::sim::registry::Named;
use std::ffi::{c_uint, c_void};
use std::ptr;

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
