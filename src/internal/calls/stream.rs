//! Streams, events and host functions.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::{c_int, c_uint, c_void};

/// A non-blocking stream of the current context.
pub(crate) fn stream_create(driver: Api) -> Result<CUstream> {
    let mut stream = CUstream::NULL;
    driver.call("cuStreamCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuStreamCreate)(&raw mut stream, CU_STREAM_NON_BLOCKING) }
    })?;
    Ok(stream)
}

/// A non-blocking stream of the current context. A priority out of range is moved into it, silently
/// (measured).
pub(crate) fn stream_create_with_priority(driver: Api, priority: c_int) -> Result<CUstream> {
    let mut stream = CUstream::NULL;
    driver.call("cuStreamCreateWithPriority", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuStreamCreateWithPriority)(&raw mut stream, CU_STREAM_NON_BLOCKING, priority) }
    })?;
    Ok(stream)
}

/// The least and the greatest priority of streams of the current context. Greater ones are smaller
/// numbers.
pub(crate) fn ctx_stream_priority_range(driver: Api) -> Result<(c_int, c_int)> {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: the out-pointers are valid for the call.
    driver.call("cuCtxGetStreamPriorityRange", |s| unsafe {
        (s.cuCtxGetStreamPriorityRange)(&raw mut least, &raw mut greatest)
    })?;
    Ok((least, greatest))
}

/// # Safety
/// `stream` is live and not used afterwards.
pub(crate) unsafe fn stream_destroy(driver: Api, stream: CUstream) -> Result<()> {
    // SAFETY: the caller promises: `stream` is live and not used afterwards.
    driver.call("cuStreamDestroy", |s| unsafe {
        (s.cuStreamDestroy)(stream)
    })
}

/// Waits even on a poisoned driver: its answer is what proves that the work has stopped.
///
/// # Safety
/// `stream` is live.
#[inline]
pub(crate) unsafe fn stream_synchronize(driver: Api, stream: CUstream) -> Result<(), CUresult> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `stream` is live.
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
pub(crate) unsafe fn stream_query(driver: Api, stream: CUstream) -> CUresult {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `stream` is live.
    unsafe { (driver.symbols().cuStreamQuery)(stream) }
}

/// Whether everything that `stream` was given is done.
///
/// # Safety
/// `stream` is live.
pub(crate) unsafe fn stream_is_idle(driver: Api, stream: CUstream) -> Result<bool> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `stream` is live.
    driver.ask("cuStreamQuery", |s| unsafe { (s.cuStreamQuery)(stream) })
}

/// # Safety
/// Both are live. They may belong to different contexts.
#[inline]
pub(crate) unsafe fn stream_wait_event(
    driver: Api,
    stream: CUstream,
    event: CUevent,
) -> Result<()> {
    // SAFETY: the caller promises: both are live. They may belong to different contexts.
    driver.call("cuStreamWaitEvent", |s| unsafe {
        (s.cuStreamWaitEvent)(stream, event, 0)
    })
}

/// An event of the current context. `flags` is [`CU_EVENT_DEFAULT`] or [`CU_EVENT_DISABLE_TIMING`].
pub(crate) fn event_create(driver: Api, flags: c_uint) -> Result<CUevent> {
    let mut event = CUevent::NULL;
    driver.call("cuEventCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuEventCreate)(&raw mut event, flags) }
    })?;
    Ok(event)
}

/// # Safety
/// `event` is live and not used afterwards.
pub(crate) unsafe fn event_destroy(driver: Api, event: CUevent) -> Result<()> {
    // SAFETY: the caller promises: `event` is live and not used afterwards.
    driver.call("cuEventDestroy", |s| unsafe { (s.cuEventDestroy)(event) })
}

/// # Safety
/// Both are live and belong to one context.
#[inline]
pub(crate) unsafe fn event_record(driver: Api, event: CUevent, stream: CUstream) -> Result<()> {
    // SAFETY: the caller promises: both are live and belong to one context.
    driver.call("cuEventRecord", |s| unsafe {
        (s.cuEventRecord)(event, stream)
    })
}

/// Whether the last record of `event` has happened. The driver says yes of an event that was never
/// recorded (measured).
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_is_complete(driver: Api, event: CUevent) -> Result<bool> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `event` is live.
    driver.ask("cuEventQuery", |s| unsafe { (s.cuEventQuery)(event) })
}

/// Waits for the last record of `event`. The driver returns at once for an event that was never
/// recorded (measured).
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_synchronize(driver: Api, event: CUevent) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `event` is live.
    driver.call("cuEventSynchronize", |s| unsafe {
        (s.cuEventSynchronize)(event)
    })
}

/// Milliseconds from the last record of `start` to that of `end`; `None` while one of them is
/// pending.
///
/// # Safety
/// Both are live, record times and belong to one context.
pub(crate) unsafe fn event_elapsed_time(
    driver: Api,
    start: CUevent,
    end: CUevent,
) -> Result<Option<f32>> {
    let mut milliseconds = 0.0;
    let is_done = driver.ask("cuEventElapsedTime", |s| {
        // SAFETY: the caller promises: both are live, record times and belong to one context; the
        // out-pointer is valid for the call.
        unsafe { (s.cuEventElapsedTime)(&raw mut milliseconds, start, end) }
    })?;
    Ok(is_done.then_some(milliseconds))
}

/// The raw answer: `NOT_READY` while what was recorded is pending.
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_query(driver: Api, event: CUevent) -> CUresult {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `event` is live.
    unsafe { (driver.symbols().cuEventQuery)(event) }
}

/// Waits even on a poisoned driver, as [`stream_synchronize`] does.
///
/// # Safety
/// `event` is live.
pub(crate) unsafe fn event_synchronize_regardless(
    driver: Api,
    event: CUevent,
) -> Result<(), CUresult> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `event` is live.
    let code = unsafe { (driver.symbols().cuEventSynchronize)(event) };
    if code == CUresult::SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// # Safety
/// `stream` is live. `function` may be called with `user_data` on any thread, once and at any time,
/// or never.
pub(crate) unsafe fn launch_host_func(
    driver: Api,
    stream: CUstream,
    function: CUhostFn,
    user_data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller promises: `stream` is live. `function` may be called with `user_data` on
    // any thread, once and at any time, or never.
    driver.call("cuLaunchHostFunc", |s| unsafe {
        (s.cuLaunchHostFunc)(stream, function, user_data)
    })
}
