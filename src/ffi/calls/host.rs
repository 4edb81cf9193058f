//! Host memory: page-locked allocations.

#![allow(unsafe_code)] // makes driver calls

use crate::driver::Driver;
use crate::error::Result;
use crate::ffi::*;
use std::ffi::{c_uint, c_void};
use std::ptr;

/// The new memory belongs to the context that is current, and its content is undefined. `bytes` is not 0.
pub(crate) fn mem_host_alloc(driver: Driver, bytes: usize, flags: c_uint) -> Result<*mut c_void> {
    let mut memory = ptr::null_mut();
    // SAFETY: the driver checks size and flags; the out-pointer is valid for the call.
    driver.call("cuMemHostAlloc", |s| unsafe {
        (s.cuMemHostAlloc)(&raw mut memory, bytes, flags)
    })?;
    Ok(memory)
}

/// # Safety
/// `memory` came from [`mem_host_alloc`], and neither host nor device uses it any more.
pub(crate) unsafe fn mem_free_host(driver: Driver, memory: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemFreeHost", |s| unsafe { (s.cuMemFreeHost)(memory) })
}

/// The address under which the current context's device knows page-locked memory.
///
/// # Safety
/// `memory` lies in live page-locked memory.
pub(crate) unsafe fn mem_host_get_device_pointer(
    driver: Driver,
    memory: *mut c_void,
) -> Result<CUdeviceptr> {
    let mut address = 0;
    // SAFETY: the caller's promise; the out-pointer is valid for the call, and no flag is defined.
    driver.call("cuMemHostGetDevicePointer", |s| unsafe {
        (s.cuMemHostGetDevicePointer)(&raw mut address, memory, 0)
    })?;
    Ok(address)
}
