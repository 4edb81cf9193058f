//! Kernels.

#![allow(unsafe_code)] // makes driver calls

use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::*;
use std::ffi::{c_int, c_void};
use std::ptr;

/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_max_threads_per_block(
    driver: Driver,
    function: CUfunction,
) -> Result<c_int> {
    let mut value = 0;
    driver.call("cuFuncGetAttribute", |s| {
        // SAFETY: the caller's promise; the out-pointer is valid for the call.
        unsafe {
            (s.cuFuncGetAttribute)(
                &raw mut value,
                CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                function,
            )
        }
    })?;
    Ok(value)
}

/// Offset and size in bytes of a parameter; `None` past the last one.
///
/// # Safety
/// `function` is live.
pub(crate) unsafe fn func_get_param_info(
    driver: Driver,
    function: CUfunction,
    index: usize,
) -> Result<Option<(usize, usize)>> {
    let Some(get) = driver.symbols().cuFuncGetParamInfo else {
        return Err(driver.missing("cuFuncGetParamInfo"));
    };
    let (mut offset, mut size) = (0, 0);
    let info = driver.call("cuFuncGetParamInfo", |_| {
        // SAFETY: the caller's promise; the out-pointers are valid for the call.
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
    driver: Driver,
    function: CUfunction,
) -> Result<Option<usize>> {
    let Some(get) = driver.symbols().cuFuncGetParamCount else {
        return Ok(None);
    };
    let mut count = 0;
    // SAFETY: the caller's promise; the out-pointer is valid for the call.
    driver.call("cuFuncGetParamCount", |_| unsafe {
        get(function, &raw mut count)
    })?;
    Ok(Some(count))
}

/// A kernel with its launch shape, as the driver takes it.
pub(crate) struct Launch {
    pub(crate) function: CUfunction,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
}

/// # Safety
/// Function and stream are live and of one context; `parameters` points to as many pointers as the function has parameters, each to a
/// value of that parameter's size; the kernel, run with these values in this shape, touches only memory that stays valid and
/// otherwise untouched until `stream` has passed this point.
#[inline]
pub(crate) unsafe fn launch_kernel(
    driver: Driver,
    launch: &Launch,
    stream: CUstream,
    parameters: *mut *mut c_void,
) -> Result<()> {
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    let (function, shared) = (launch.function, launch.shared_bytes);
    driver.call("cuLaunchKernel", |s| {
        // SAFETY: the caller's promise; `extra` is null, so that the parameters are taken from `parameters`.
        unsafe {
            (s.cuLaunchKernel)(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                stream,
                parameters,
                ptr::null_mut(),
            )
        }
    })
}
