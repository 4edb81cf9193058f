//! Modules.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::ffi::*;
use crate::sim::ptx::{self, Ptx, Refusal};
use crate::sim::registry::{Handle, Named};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

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
            // SAFETY: an image that is not a binary ends with a NUL; a binary has one in its header.
            let text = unsafe { CStr::from_ptr(image.cast()) };
            let parsed = ptx::parse(text.to_bytes(), newest_ptx(machine.simulation().version))
                .and_then(Ptx::resolved);
            let log = parsed.as_ref().err().map_or("", Refusal::log);
            // SAFETY: the caller passes `count` options and values, and a log buffer of the size that it gives.
            unsafe { write_log(log, count as usize, options, values) };
            let ptx = parsed.map_err(|refusal| match refusal {
                Refusal::NotPtx => CUresult::INVALID_IMAGE,
                Refusal::TooNew { .. } => CUresult::UNSUPPORTED_PTX_VERSION,
                Refusal::Wrong { .. } => CUresult::INVALID_PTX,
            })?;
            let made = state.add_module(context, ptx)?;
            module.set(CUmodule::from_ptr(made.as_ptr()))
        },
    )
}

/// The newest PTX version that a driver of this CUDA version reads, major and minor.
fn newest_ptx(version: c_int) -> (u32, u32) {
    let number = |number: c_int| u32::try_from(number).unwrap_or(0);
    (number(version / 1000 - 4), number(version % 1000 / 10))
}

/// Writes the JIT's log where the options say, and how many bytes it has, without the NUL, or the size of the buffer if that is less.
///
/// # Safety
/// `options` and `values` have `count` elements each; the error log buffer has as many bytes as its size option says.
unsafe fn write_log(
    log: &str,
    count: usize,
    options: *const CUjit_option,
    values: *mut *mut c_void,
) {
    let (mut buffer, mut size) = (None, None);
    for index in 0..count {
        // SAFETY: `index` is below `count`.
        let option = unsafe { options.add(index) };
        // SAFETY: one of `count` options.
        let option = unsafe { option.read() };
        // SAFETY: `index` is below `count`.
        let value = unsafe { values.add(index) };
        match option {
            CU_JIT_ERROR_LOG_BUFFER => buffer = Some(value),
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => size = Some(value),
            _ => {}
        }
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return;
    };
    // SAFETY: one of `count` values.
    let to = unsafe { buffer.read() }.cast::<u8>();
    // SAFETY: one of `count` values. A size is passed in the pointer itself.
    let room = unsafe { size.read() }.addr() & c_uint::MAX as usize;
    if log.is_empty() {
        // SAFETY: one of `count` values.
        unsafe { size.write(ptr::null_mut()) };
    }
    if to.is_null() || room == 0 || log.is_empty() {
        return;
    }
    let used = log.len().min(room - 1);
    // SAFETY: the buffer has `room` bytes, of which these are all but one at most.
    unsafe { ptr::copy_nonoverlapping(log.as_ptr(), to, used) };
    // SAFETY: `used` is less than `room`.
    let end = unsafe { to.add(used) };
    // SAFETY: as above, this is one of the buffer's bytes.
    unsafe { end.write(0) };
    let reported = log.len().min(room);
    // SAFETY: one of `count` values; the driver returns the size in it.
    unsafe { size.write(ptr::without_provenance_mut(reported)) };
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
