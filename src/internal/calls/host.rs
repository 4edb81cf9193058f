//! Host memory: page-locked, registered, managed.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::{c_uint, c_void};
use std::ptr;

/// The new memory belongs to the context that is current, and its content is undefined. `bytes` is
/// not 0.
pub(crate) fn mem_host_alloc(driver: Api, bytes: usize, flags: c_uint) -> Result<*mut c_void> {
    let _relaxed = driver.relaxed();
    let mut memory = ptr::null_mut();
    // SAFETY: the driver checks size and flags; the out-pointer is valid for the call.
    driver.call("cuMemHostAlloc", |s| unsafe {
        (s.cuMemHostAlloc)(&raw mut memory, bytes, flags)
    })?;
    Ok(memory)
}

/// # Safety
/// `memory` came from [`mem_host_alloc`], and neither host nor device uses it any more.
pub(crate) unsafe fn mem_free_host(driver: Api, memory: *mut c_void) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `memory` came from [`mem_host_alloc`], and neither host nor
    // device uses it any more.
    driver.call("cuMemFreeHost", |s| unsafe { (s.cuMemFreeHost)(memory) })
}

/// The address under which the current context's device knows page-locked memory.
///
/// # Safety
/// `memory` lies in live page-locked memory.
pub(crate) unsafe fn mem_host_get_device_pointer(
    driver: Api,
    memory: *mut c_void,
) -> Result<CUdeviceptr> {
    let mut address = 0;
    // SAFETY: the caller promises: `memory` lies in live page-locked memory; the out-pointer is
    // valid for the call, and no flag is defined.
    driver.call("cuMemHostGetDevicePointer", |s| unsafe {
        (s.cuMemHostGetDevicePointer)(&raw mut address, memory, 0)
    })?;
    Ok(address)
}

/// Page-locks memory of the caller's; it belongs to the context that is current. `bytes` is not 0.
///
/// # Safety
/// `memory` has `bytes`, and stays allocated until [`mem_host_unregister`].
pub(crate) unsafe fn mem_host_register(
    driver: Api,
    memory: *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `memory` has `bytes`, and stays allocated until
    // [`mem_host_unregister`].
    driver.call("cuMemHostRegister", |s| unsafe {
        (s.cuMemHostRegister)(memory, bytes, flags)
    })
}

/// # Safety
/// `memory` was registered in the current context, and no copy that uses it is pending.
pub(crate) unsafe fn mem_host_unregister(driver: Api, memory: *mut c_void) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `memory` was registered in the current context, and no copy that
    // uses it is pending.
    driver.call("cuMemHostUnregister", |s| unsafe {
        (s.cuMemHostUnregister)(memory)
    })
}

/// The new memory belongs to the context that is current, host and device know it by one address,
/// and its content is undefined. `bytes` is not 0.
pub(crate) fn mem_alloc_managed(driver: Api, bytes: usize) -> Result<CUdeviceptr> {
    let _relaxed = driver.relaxed();
    let mut address = 0;
    // SAFETY: the driver checks the size; the out-pointer is valid for the call.
    driver.call("cuMemAllocManaged", |s| unsafe {
        (s.cuMemAllocManaged)(&raw mut address, bytes, CU_MEM_ATTACH_GLOBAL)
    })?;
    Ok(address)
}

/// # Safety
/// `address` is the start of a live allocation, and neither host nor device uses it any more.
pub(crate) unsafe fn mem_free(driver: Api, address: CUdeviceptr) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `address` is the start of a live allocation, and neither host
    // nor device uses it any more.
    driver.call("cuMemFree", |s| unsafe { (s.cuMemFree)(address) })
}

/// `device` is `None` for the host.
///
/// # Safety
/// `bytes` bytes are allocated at `address`, and `stream` is live.
pub(crate) unsafe fn mem_prefetch_async(
    driver: Api,
    address: CUdeviceptr,
    bytes: usize,
    device: Option<CUdevice>,
    stream: CUstream,
) -> Result<()> {
    let Some(prefetch) = driver.symbols().cuMemPrefetchAsync else {
        return Err(driver.missing("cuMemPrefetchAsync"));
    };
    // SAFETY: the caller promises: `bytes` bytes are allocated at `address`, and `stream` is live;
    // the driver checks the device.
    driver.call("cuMemPrefetchAsync", |_| unsafe {
        prefetch(address, bytes, device.unwrap_or(CPU), stream)
    })
}

/// `device` is `None` for the host.
///
/// # Safety
/// `bytes` bytes are allocated at `address`.
pub(crate) unsafe fn mem_advise(
    driver: Api,
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    device: Option<CUdevice>,
) -> Result<()> {
    let Some(advise) = driver.symbols().cuMemAdvise else {
        return Err(driver.missing("cuMemAdvise"));
    };
    // SAFETY: the caller promises: `bytes` bytes are allocated at `address`; the driver checks
    // advice and device.
    driver.call("cuMemAdvise", |_| unsafe {
        advise(address, bytes, advice, device.unwrap_or(CPU))
    })
}

/// `CU_DEVICE_CPU`.
const CPU: CUdevice = -1;
