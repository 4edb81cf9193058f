//! Streams, events and host functions.

#![allow(unsafe_code)] // makes driver calls

use crate::driver::Driver;
use crate::error::Result;
use crate::ffi::*;
use std::ffi::c_void;

/// A non-blocking stream of the current context.
pub(crate) fn stream_create(driver: Driver) -> Result<CUstream> {
    let mut stream = CUstream::NULL;
    driver.call("cuStreamCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuStreamCreate)(&raw mut stream, CU_STREAM_NON_BLOCKING) }
    })?;
    Ok(stream)
}

/// # Safety
/// `stream` is live and not used afterwards.
pub(crate) unsafe fn stream_destroy(driver: Driver, stream: CUstream) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuStreamDestroy", |s| unsafe {
        (s.cuStreamDestroy)(stream)
    })
}

/// Waits even on a poisoned driver: its answer is what proves that the work has stopped.
///
/// # Safety
/// `stream` is live.
#[inline]
pub(crate) unsafe fn stream_synchronize(driver: Driver, stream: CUstream) -> Result<(), CUresult> {
    // SAFETY: the caller's promise.
    let code = unsafe { (driver.symbols().cuStreamSynchronize)(stream) };
    if code == CUresult::SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// The raw answer: `NOT_READY` while work is pending.
///
/// # Safety
/// `stream` is live.
pub(crate) unsafe fn stream_query(driver: Driver, stream: CUstream) -> CUresult {
    // SAFETY: the caller's promise.
    unsafe { (driver.symbols().cuStreamQuery)(stream) }
}

/// # Safety
/// Both are live. They may belong to different contexts.
#[inline]
pub(crate) unsafe fn stream_wait_event(
    driver: Driver,
    stream: CUstream,
    event: CUevent,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuStreamWaitEvent", |s| unsafe {
        (s.cuStreamWaitEvent)(stream, event, 0)
    })
}

/// An event of the current context that records no time.
pub(crate) fn event_create(driver: Driver) -> Result<CUevent> {
    let mut event = CUevent::NULL;
    driver.call("cuEventCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuEventCreate)(&raw mut event, CU_EVENT_DISABLE_TIMING) }
    })?;
    Ok(event)
}

/// # Safety
/// `event` is live and not used afterwards.
pub(crate) unsafe fn event_destroy(driver: Driver, event: CUevent) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuEventDestroy", |s| unsafe { (s.cuEventDestroy)(event) })
}

/// # Safety
/// Both are live and belong to one context.
#[inline]
pub(crate) unsafe fn event_record(driver: Driver, event: CUevent, stream: CUstream) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuEventRecord", |s| unsafe {
        (s.cuEventRecord)(event, stream)
    })
}

/// The raw answer: `NOT_READY` while what was recorded is pending.
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_query(driver: Driver, event: CUevent) -> CUresult {
    // SAFETY: the caller's promise.
    unsafe { (driver.symbols().cuEventQuery)(event) }
}

/// Waits even on a poisoned driver, as [`stream_synchronize`] does.
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_synchronize(driver: Driver, event: CUevent) -> Result<(), CUresult> {
    // SAFETY: the caller's promise.
    let code = unsafe { (driver.symbols().cuEventSynchronize)(event) };
    if code == CUresult::SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// # Safety
/// `stream` is live. `function` may be called with `user_data` on any thread, once and at any time, or never.
pub(crate) unsafe fn launch_host_func(
    driver: Driver,
    stream: CUstream,
    function: CUhostFn,
    user_data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuLaunchHostFunc", |s| unsafe {
        (s.cuLaunchHostFunc)(stream, function, user_data)
    })
}
