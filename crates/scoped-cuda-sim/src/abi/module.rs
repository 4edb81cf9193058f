//! Modules.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::jit::Jit;
use super::{Out, call};
use crate::image;
use crate::registry::{Handle, Named};
use scoped_cuda_sys::*;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::slice;

fn module_handle(module: CUmodule) -> Handle {
    Handle::from_ptr(module.as_ptr())
}

pub(super) unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let module = unsafe { Out::new(module) };
    call(
        "cuModuleLoadDataEx",
        Named::Current,
        |machine, mut state| {
            let (context, module) = (state.current()?, module?);
            if image.is_null() || count > 0 && (options.is_null() || values.is_null()) {
                return Err(CUresult::INVALID_VALUE);
            }
            // SAFETY: the caller passes `count` options and values, and log buffers of the sizes
            // that it gives.
            let jit = unsafe { Jit::read(&mut state, count, options, values) }?;
            // SAFETY: the caller passes PTX that ends with a NUL, or an image that is as long as
            // its headers say.
            let image = unsafe { whole(image.cast()) };
            let version = machine.simulation().version;
            let loaded = image::load(image, newest_ptx(version), &jit.options);
            // SAFETY: the buffers are valid for the call.
            unsafe { jit.answer(&loaded) };
            let loaded = loaded.map_err(|refused| refused.code)?;
            let made = state.add_module(context, loaded)?;
            module.set(CUmodule::from_ptr(made.as_ptr()))
        },
    )
}

/// The newest PTX version that a driver of this CUDA version reads, major and minor.
pub(super) fn newest_ptx(version: c_int) -> (u32, u32) {
    let number = |number: c_int| u32::try_from(number).unwrap_or(0);
    (number(version / 1000 - 4), number(version % 1000 / 10))
}

/// An image of which only the beginning is known.
///
/// # Safety
/// It is text that ends with a NUL, or as long as its own headers say, and stays as it is for `'a`.
unsafe fn whole<'a>(image: *const u8) -> &'a [u8] {
    for (magic, header) in image::HEADERS {
        let is_it = |(offset, &byte): (usize, &u8)| {
            // SAFETY: the bytes before it are those of the magic number, so there is no NUL among
            // them and no end.
            let at = unsafe { image.add(offset) };
            // SAFETY: as above.
            byte == unsafe { at.read() }
        };
        if magic.iter().enumerate().all(is_it) {
            // SAFETY: an image with this magic number has such a header.
            let header = unsafe { slice::from_raw_parts(image, header) };
            // SAFETY: the image is as long as its header says.
            return unsafe { slice::from_raw_parts(image, image::bytes(header)) };
        }
    }
    // SAFETY: an image that is not a binary ends with a NUL.
    unsafe { CStr::from_ptr(image.cast()) }.to_bytes()
}

pub(super) unsafe extern "C" fn cuModuleUnload(module: CUmodule) -> CUresult {
    let module = module_handle(module);
    call("cuModuleUnload", Named::Handle(module), |_, mut state| {
        state.unload(module)
    })
}

pub(super) unsafe extern "C" fn cuModuleGetFunction(
    function: *mut CUfunction,
    module: CUmodule,
    name: *const c_char,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let function = unsafe { Out::new(function) };
    let module = module_handle(module);
    call(
        "cuModuleGetFunction",
        Named::Handle(module),
        |_, mut state| {
            if name.is_null() {
                return Err(CUresult::INVALID_VALUE);
            }
            // SAFETY: the caller passes a string that ends with a NUL.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            if name.is_empty() {
                return Err(CUresult::INVALID_VALUE);
            }
            let function = function?;
            let found = state.function_of(module, &name);
            if found.is_ok() || found == Err(CUresult::NOT_FOUND) {
                let made = found.unwrap_or(Handle::NULL);
                function.set(CUfunction::from_ptr(made.as_ptr()))?;
            }
            found.map(drop)
        },
    )
}

pub(super) unsafe extern "C" fn cuModuleGetGlobal(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let address = unsafe { Out::new(address) };
    // SAFETY: null or valid for the call.
    let bytes = unsafe { Out::new(bytes) };
    let module = module_handle(module);
    call("cuModuleGetGlobal", Named::Handle(module), |_, state| {
        if name.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        // SAFETY: the caller passes a string that ends with a NUL.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        if name.is_empty() {
            return Err(CUresult::INVALID_VALUE);
        }
        let found = state.variable_of(module, &name)?;
        // The caller may not want to know both.
        address.map_or(Ok(()), |address| address.set(found.0))?;
        bytes.map_or(Ok(()), |bytes| bytes.set(found.1))
    })
}
