//! Modules and kernels.

#![allow(unsafe_code)] // makes driver calls

use super::text;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::*;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr;

/// Loads PTX into the current context. With the error comes what the JIT wrote to its error log.
pub(crate) fn module_load_ptx(driver: Driver, ptx: &CStr) -> Result<CUmodule, (Error, String)> {
    let mut module = CUmodule::NULL;
    let mut log = vec![0; 8192];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // A size is passed in the pointer itself (cuda.h, CUjit_option).
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(log.len()),
    ];
    driver
        .call("cuModuleLoadDataEx", |s| {
            // SAFETY: the image is a NUL-terminated string, which the driver reads to its end; two options are passed and counted;
            // the JIT writes no more than the length given into the log.
            unsafe {
                (s.cuModuleLoadDataEx)(
                    &raw mut module,
                    ptx.as_ptr().cast(),
                    options.len() as c_uint,
                    options.as_mut_ptr(),
                    values.as_mut_ptr(),
                )
            }
        })
        .map_err(|error| (error, text(&log).trim_end().to_owned()))?;
    Ok(module)
}

/// # Safety
/// `module` is live, none of its functions is pending or used afterwards.
pub(crate) unsafe fn module_unload(driver: Driver, module: CUmodule) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuModuleUnload", |s| unsafe { (s.cuModuleUnload)(module) })
}

/// # Safety
/// `module` is live. So is the function, as long as the module is.
pub(crate) unsafe fn module_get_function(
    driver: Driver,
    module: CUmodule,
    name: &CStr,
) -> Result<CUfunction> {
    let mut function = CUfunction::NULL;
    driver.call("cuModuleGetFunction", |s| {
        // SAFETY: the caller's promise; the name is NUL-terminated and the out-pointer valid for the call.
        unsafe { (s.cuModuleGetFunction)(&raw mut function, module, name.as_ptr()) }
    })?;
    Ok(function)
}

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
