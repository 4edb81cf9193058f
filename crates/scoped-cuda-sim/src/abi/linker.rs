//! Linkers.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::jit::Jit;
use super::module::newest_ptx;
use super::{Out, call};
use crate::image;
use crate::registry::{Handle, Named};
use scoped_cuda_sys::*;
use std::ffi::{c_char, c_uint, c_void};
use std::slice;

fn linker_handle(state: CUlinkState) -> Handle {
    Handle::from_ptr(state.as_ptr())
}

pub(super) unsafe extern "C" fn cuLinkCreate(
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
    linker: *mut CUlinkState,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let linker = unsafe { Out::new(linker) };
    call("cuLinkCreate", Named::Current, |_, mut state| {
        let (context, linker) = (state.current()?, linker?);
        // SAFETY: the caller passes `count` options and values, and log buffers of the sizes that
        // it gives.
        let jit = unsafe { Jit::read(&mut state, count, options, values) }?;
        let made = state.add_linker(context, jit);
        linker.set(CUlinkState::from_ptr(made.as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuLinkAddData(
    linker: CUlinkState,
    kind: CUjitInputType,
    data: *mut c_void,
    bytes: usize,
    _name: *const c_char,
    _count: c_uint,
    _options: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> CUresult {
    let handle = linker_handle(linker);
    call(
        "cuLinkAddData",
        Named::Handle(handle),
        |machine, mut state| {
            let context = state.linker(handle)?.context;
            state.live(context)?;
            let linker = state.linker(handle)?;
            let is_known = kind <= CU_JIT_INPUT_LIBRARY;
            if data.is_null() || bytes == 0 || !is_known || linker.image.is_some() {
                return Err(CUresult::INVALID_VALUE);
            }
            // SAFETY: the caller passes so many bytes.
            let data = unsafe { slice::from_raw_parts(data.cast::<u8>(), bytes) };
            if (kind == CU_JIT_INPUT_PTX) != image::is_text(data) {
                return Err(CUresult::INVALID_IMAGE);
            }
            let newest = newest_ptx(machine.simulation().version);
            let texts = image::input(data, newest, &linker.jit.options).map_err(|refused| {
                // SAFETY: the buffers are valid until the linker is destroyed (the promise of its
                // creation).
                unsafe { linker.jit.complain(&refused.log) };
                refused.code
            })?;
            linker.texts.extend(texts);
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuLinkComplete(
    linker: CUlinkState,
    cubin: *mut *mut c_void,
    bytes: *mut usize,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let cubin = unsafe { Out::new(cubin) };
    // SAFETY: null or valid for the call.
    let bytes = unsafe { Out::new(bytes) };
    let handle = linker_handle(linker);
    call(
        "cuLinkComplete",
        Named::Handle(handle),
        |machine, mut state| {
            let context = state.linker(handle)?.context;
            state.live(context)?;
            let (linker, cubin) = (state.linker(handle)?, cubin?);
            let newest = newest_ptx(machine.simulation().version);
            let linked = image::link(&linker.texts, newest, &linker.jit.options);
            let (image, info) = linked.map_err(|refused| {
                // SAFETY: the buffers are valid until the linker is destroyed (the promise of its
                // creation).
                unsafe { linker.jit.complain(&refused.log) };
                refused.code
            })?;
            // SAFETY: as above.
            unsafe { linker.jit.tell(&info) };
            let image = linker.image.get_or_insert_with(|| image.into());
            // The caller may not want to know the size.
            bytes.map_or(Ok(()), |bytes| bytes.set(image.len()))?;
            cubin.set(image.as_mut_ptr().cast())
        },
    )
}

pub(super) unsafe extern "C" fn cuLinkDestroy(linker: CUlinkState) -> CUresult {
    let handle = linker_handle(linker);
    call("cuLinkDestroy", Named::Handle(handle), |_, mut state| {
        state.destroy_linker(handle)
    })
}
