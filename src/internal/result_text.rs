//! What the driver calls its result codes.

#![allow(unsafe_code)] // asks the driver

use crate::ffi::{CUresult, Symbols};
use std::ffi::{CStr, c_char};
use std::ptr;

/// The name of a code, when the driver has one.
pub(crate) fn error_name(symbols: &Symbols, code: CUresult) -> Option<&'static str> {
    static_text(code, symbols.cuGetErrorName)
}

/// The description of a code, when the driver has one.
pub(crate) fn error_text(symbols: &Symbols, code: CUresult) -> Option<&'static str> {
    static_text(code, symbols.cuGetErrorString)
}

fn static_text(
    code: CUresult,
    get: unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult,
) -> Option<&'static str> {
    let mut text = ptr::null();
    // SAFETY: any code may be asked about; the out-pointer is valid for the call.
    let found = unsafe { get(code, &raw mut text) };
    if found != CUresult::SUCCESS || text.is_null() {
        return None;
    }
    // SAFETY: the driver returns a NUL-terminated string in its own constant data, and it is never
    // unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
