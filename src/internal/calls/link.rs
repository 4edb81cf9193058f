//! Linkers.

#![allow(unsafe_code)] // makes driver calls

use super::JitArguments;
use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::CStr;
use std::ptr;
use std::slice;

/// A linker in the current context.
///
/// # Safety
/// `jit` is dropped after the linker has been destroyed, or never.
pub(crate) unsafe fn link_create(driver: Api, jit: &JitArguments) -> Result<CUlinkState> {
    let mut state = CUlinkState::NULL;
    driver.call("cuLinkCreate", |s| {
        // SAFETY: the options are counted, and the values and the logs that they name stay in place
        // (the caller's promise); the out-pointer is valid for the call.
        unsafe { (s.cuLinkCreate)(jit.count(), jit.options(), jit.values(), &raw mut state) }
    })?;
    Ok(state)
}

/// # Safety
/// `state` is live and not used by another thread; `data` is a whole input of this kind, and PTX
/// ends with a NUL.
pub(crate) unsafe fn link_add_data(
    driver: Api,
    state: CUlinkState,
    kind: CUjitInputType,
    data: &[u8],
    name: &CStr,
) -> Result<()> {
    driver.call("cuLinkAddData", |s| {
        // SAFETY: the caller promises: `state` is live and not used by another thread; `data` is a
        // whole input of this kind, and PTX ends with a NUL. The driver reads the data and the name
        // during the call and keeps no reference (cuda.h).
        unsafe {
            (s.cuLinkAddData)(
                state,
                kind,
                data.as_ptr().cast_mut().cast(),
                data.len(),
                name.as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    })
}

/// A copy of the linked cubin; the original is the linker's.
///
/// # Safety
/// `state` is live and not used by another thread.
pub(crate) unsafe fn link_complete(driver: Api, state: CUlinkState) -> Result<Box<[u8]>> {
    let (mut cubin, mut bytes) = (ptr::null_mut(), 0);
    driver.call("cuLinkComplete", |s| {
        // SAFETY: the caller promises: `state` is live and not used by another thread; the
        // out-pointers are valid for the call.
        unsafe { (s.cuLinkComplete)(state, &raw mut cubin, &raw mut bytes) }
    })?;
    if cubin.is_null() {
        return Ok(Box::default());
    }
    // SAFETY: after success it is `bytes` bytes of memory that lives as long as the linker.
    Ok(unsafe { slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.into())
}

/// # Safety
/// `state` is live and not used afterwards.
pub(crate) unsafe fn link_destroy(driver: Api, state: CUlinkState) -> Result<()> {
    // SAFETY: the caller promises: `state` is live and not used afterwards.
    driver.call("cuLinkDestroy", |s| unsafe { (s.cuLinkDestroy)(state) })
}
