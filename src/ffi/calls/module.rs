//! Modules.

#![allow(unsafe_code)] // makes driver calls

use super::text;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::*;
use std::ffi::{CStr, c_uint, c_void};
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

/// Address and size in bytes of a variable.
///
/// # Safety
/// `module` is live. So is the variable, as long as the module is.
pub(crate) unsafe fn module_get_global(
    driver: Driver,
    module: CUmodule,
    name: &CStr,
) -> Result<(CUdeviceptr, usize)> {
    let (mut address, mut bytes) = (0, 0);
    driver.call("cuModuleGetGlobal", |s| {
        // SAFETY: the caller's promise; the name is NUL-terminated and the out-pointers valid for the call.
        unsafe { (s.cuModuleGetGlobal)(&raw mut address, &raw mut bytes, module, name.as_ptr()) }
    })?;
    Ok((address, bytes))
}
