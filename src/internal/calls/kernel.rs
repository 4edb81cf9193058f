//! Kernels.

#![allow(unsafe_code)] // makes driver calls

use crate::error::{Error, Result};
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::{c_int, c_void};
use std::ptr;

/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_get_attribute(
    driver: Api,
    function: CUfunction,
    attribute: CUfunction_attribute,
) -> Result<c_int> {
    let mut value = 0;
    driver.call("cuFuncGetAttribute", |s| {
        // SAFETY: the caller promises: `function` is live; the out-pointer is valid for the call.
        unsafe { (s.cuFuncGetAttribute)(&raw mut value, attribute, function) }
    })?;
    Ok(value)
}

/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_set_attribute(
    driver: Api,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Result<()> {
    // SAFETY: the caller promises: `function` is live.
    driver.call("cuFuncSetAttribute", |s| unsafe {
        (s.cuFuncSetAttribute)(function, attribute, value)
    })
}

/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_set_cache_config(
    driver: Api,
    function: CUfunction,
    preference: CUfunc_cache,
) -> Result<()> {
    // SAFETY: the caller promises: `function` is live.
    driver.call("cuFuncSetCacheConfig", |s| unsafe {
        (s.cuFuncSetCacheConfig)(function, preference)
    })
}

/// Offset and size in bytes of a parameter; `None` past the last one.
///
/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_get_param_info(
    driver: Api,
    function: CUfunction,
    index: usize,
) -> Result<Option<(usize, usize)>> {
    let Some(get) = driver.symbols().cuFuncGetParamInfo else {
        return Err(driver.missing("cuFuncGetParamInfo"));
    };
    let (mut offset, mut size) = (0, 0);
    let info = driver.call("cuFuncGetParamInfo", |_| {
        // SAFETY: the caller promises: `function` is live; the out-pointers are valid for the call.
        unsafe { get(function, index, &raw mut offset, &raw mut size) }
    });
    match info {
        Ok(()) => Ok(Some((offset, size))),
        // Measured: INVALID_VALUE is the answer past the last parameter.
        Err(Error::Driver(error)) if error.code() == CUresult::INVALID_VALUE => Ok(None),
        Err(error) => Err(error),
    }
}

/// How many parameters a function has; `None` when the driver (before CUDA 13.2) cannot say.
///
/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_get_param_count(
    driver: Api,
    function: CUfunction,
) -> Result<Option<usize>> {
    let Some(get) = driver.symbols().cuFuncGetParamCount else {
        return Ok(None);
    };
    let mut count = 0;
    // SAFETY: the caller promises: `function` is live; the out-pointer is valid for the call.
    driver.call("cuFuncGetParamCount", |_| unsafe {
        get(function, &raw mut count)
    })?;
    Ok(Some(count))
}

/// How many blocks of `threads` threads and `shared_bytes` of dynamic shared memory a
/// multiprocessor of the current context runs at once.
///
/// # Safety
/// `function` is live.
pub(crate) unsafe fn occupancy_max_active_blocks(
    driver: Api,
    function: CUfunction,
    threads: c_int,
    shared_bytes: usize,
) -> Result<c_int> {
    let mut blocks = 0;
    driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", |s| {
        // SAFETY: the caller promises: `function` is live; the out-pointer is valid for the call.
        unsafe {
            (s.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                function,
                threads,
                shared_bytes,
            )
        }
    })?;
    Ok(blocks)
}

/// The most blocks that a cluster of this launch may have on the current context's device.
///
/// # Safety
/// `function` is live; the configuration's attributes are as many as it says.
pub(crate) unsafe fn occupancy_max_cluster_size(
    driver: Api,
    function: CUfunction,
    config: &CUlaunchConfig,
) -> Result<c_int> {
    let mut blocks = 0;
    driver.call("cuOccupancyMaxPotentialClusterSize", |s| {
        // SAFETY: the caller promises: `function` is live; the configuration's attributes are as
        // many as it says; both pointers are valid for the call.
        unsafe { (s.cuOccupancyMaxPotentialClusterSize)(&raw mut blocks, function, config) }
    })?;
    Ok(blocks)
}

/// How many clusters of this launch the current context's device runs at once.
///
/// # Safety
/// As [`occupancy_max_cluster_size`].
pub(crate) unsafe fn occupancy_max_active_clusters(
    driver: Api,
    function: CUfunction,
    config: &CUlaunchConfig,
) -> Result<c_int> {
    let mut clusters = 0;
    driver.call("cuOccupancyMaxActiveClusters", |s| {
        // SAFETY: the caller promises what `occupancy_max_cluster_size` asks for; both pointers are
        // valid for the call.
        unsafe { (s.cuOccupancyMaxActiveClusters)(&raw mut clusters, function, config) }
    })?;
    Ok(clusters)
}

/// # Safety
/// Function and the configuration's stream are live and of one context; its attributes are as many
/// as it says; `parameters` points to as many pointers as the function has parameters, each to a
/// value of that parameter's size; the kernel, run with these values in this shape, touches only
/// memory that stays valid and otherwise untouched until the stream has passed this point.
#[inline]
pub(crate) unsafe fn launch_kernel(
    driver: Api,
    config: &CUlaunchConfig,
    function: CUfunction,
    parameters: *mut *mut c_void,
) -> Result<()> {
    driver.call("cuLaunchKernelEx", |s| {
        // SAFETY: what `launch_kernel` asks of its caller; `extra` is null, so that the parameters
        // are taken from `parameters`.
        unsafe { (s.cuLaunchKernelEx)(config, function, parameters, ptr::null_mut()) }
    })
}
