//! Modules.

#![allow(unsafe_code)] // makes driver calls

use super::JitArguments;
use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::{CStr, c_void};

/// Loads an image into the current context.
///
/// # Safety
/// `image` is PTX text that ends with a NUL, or a whole cubin or fatbin as the CUDA tools make
/// them.
pub(crate) unsafe fn module_load(
    driver: Api,
    image: *const c_void,
    jit: &JitArguments,
) -> Result<CUmodule> {
    let _relaxed = driver.relaxed();
    let mut module = CUmodule::NULL;
    driver.call("cuModuleLoadDataEx", |s| {
        // SAFETY: the driver reads text to its NUL, and what is no text as far as its headers say
        // (the caller's promise); the options are counted, and what they name is written no further
        // than their values say.
        unsafe {
            (s.cuModuleLoadDataEx)(
                &raw mut module,
                image,
                jit.count(),
                jit.options(),
                jit.values(),
            )
        }
    })?;
    Ok(module)
}

/// # Safety
/// `module` is live, none of its functions is pending or used afterwards.
pub(crate) unsafe fn module_unload(driver: Api, module: CUmodule) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `module` is live, none of its functions is pending or used
    // afterwards.
    driver.call("cuModuleUnload", |s| unsafe { (s.cuModuleUnload)(module) })
}

/// # Safety
/// `module` is live. So is the function, as long as the module is.
pub(crate) unsafe fn module_get_function(
    driver: Api,
    module: CUmodule,
    name: &CStr,
) -> Result<CUfunction> {
    let mut function = CUfunction::NULL;
    driver.call("cuModuleGetFunction", |s| {
        // SAFETY: the caller promises: `module` is live. So is the function, as long as the module
        // is; the name is NUL-terminated and the out-pointer valid for the call.
        unsafe { (s.cuModuleGetFunction)(&raw mut function, module, name.as_ptr()) }
    })?;
    Ok(function)
}

/// Address and size in bytes of a variable.
///
/// # Safety
/// `module` is live. So is the variable, as long as the module is.
pub(crate) unsafe fn module_get_global(
    driver: Api,
    module: CUmodule,
    name: &CStr,
) -> Result<(CUdeviceptr, usize)> {
    let (mut address, mut bytes) = (0, 0);
    driver.call("cuModuleGetGlobal", |s| {
        // SAFETY: the caller promises: `module` is live. So is the variable, as long as the module
        // is; the name is NUL-terminated and the out-pointers valid for the call.
        unsafe { (s.cuModuleGetGlobal)(&raw mut address, &raw mut bytes, module, name.as_ptr()) }
    })?;
    Ok((address, bytes))
}
