//! Contexts and the thread's context stack.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;

pub(crate) fn primary_ctx_retain(driver: Api, device: CUdevice) -> Result<CUcontext> {
    let _relaxed = driver.relaxed();
    let mut context = CUcontext::NULL;
    driver.call("cuDevicePrimaryCtxRetain", |s| {
        // SAFETY: the driver checks the device; the out-pointer is valid for the call.
        unsafe { (s.cuDevicePrimaryCtxRetain)(&raw mut context, device) }
    })?;
    Ok(context)
}

/// # Safety
/// The caller owns one retain of the device's primary context and nothing made from it is used
/// afterwards.
pub(crate) unsafe fn primary_ctx_release(driver: Api, device: CUdevice) -> Result<()> {
    let _relaxed = driver.relaxed();
    driver.call_regardless("cuDevicePrimaryCtxRelease", |s| {
        // SAFETY: the caller promises: it owns one retain of the device's primary context
        // and nothing made from it is used afterwards.
        unsafe { (s.cuDevicePrimaryCtxRelease)(device) }
    })
}

#[inline]
pub(crate) fn ctx_get_current(driver: Api) -> Result<CUcontext> {
    let mut context = CUcontext::NULL;
    driver.call_regardless("cuCtxGetCurrent", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuCtxGetCurrent)(&raw mut context) }
    })?;
    Ok(context)
}

/// # Safety
/// `context` came from the driver. It may be dead: the driver then puts the dead handle on the
/// stack (measured).
pub(crate) unsafe fn ctx_push_current(driver: Api, context: CUcontext) -> Result<()> {
    driver.call_regardless("cuCtxPushCurrent", |s| {
        // SAFETY: the caller promises: `context` came from the driver. It may be dead: the driver
        // then puts the dead handle on the stack (measured).
        unsafe { (s.cuCtxPushCurrent)(context) }
    })
}

/// # Safety
/// Nobody relies on the top of this thread's context stack.
pub(crate) unsafe fn ctx_pop_current(driver: Api) -> Result<CUcontext> {
    let mut context = CUcontext::NULL;
    driver.call_regardless("cuCtxPopCurrent", |s| {
        // SAFETY: the out-pointer is valid for the call; the rest is the caller's promise.
        unsafe { (s.cuCtxPopCurrent)(&raw mut context) }
    })?;
    Ok(context)
}

/// The number that tells a context from a later one with the same handle; fails for a context that
/// is gone.
///
/// # Safety
/// `context` came from the driver. It may be dead.
#[inline]
pub(crate) unsafe fn ctx_get_id(driver: Api, context: CUcontext) -> Result<u64> {
    let mut id = 0;
    driver.call_regardless("cuCtxGetId", |s| {
        // SAFETY: the caller promises: `context` came from the driver. It may be dead; the
        // out-pointer is valid for the call.
        unsafe { (s.cuCtxGetId)(context, &raw mut id) }
    })?;
    Ok(id)
}

/// Free and total bytes of the current context's device.
pub(crate) fn mem_get_info(driver: Api) -> Result<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the out-pointers are valid for the call.
    driver.call("cuMemGetInfo", |s| unsafe {
        (s.cuMemGetInfo)(&raw mut free, &raw mut total)
    })?;
    Ok((free, total))
}
