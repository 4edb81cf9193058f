//! Functions and launches.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::ffi::*;
use crate::sim::attributes::{BLOCK_MAX, BLOCK_THREADS_MAX, GRID_MAX, SHARED_BYTES_MAX};
use crate::sim::kernel::Launch;
use crate::sim::machine::Outcome;
use crate::sim::ptx::Entry;
use crate::sim::registry::{Handle, Named};
use crate::sim::work::Work;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

fn function_handle(function: CUfunction) -> Handle {
    Handle::from_ptr(function.as_ptr())
}

pub(super) unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let value = unsafe { Out::new(value) };
    let function = function_handle(function);
    call("cuFuncGetAttribute", Named::Handle(function), |_, state| {
        let entry = &state.function(function)?.entry;
        value?.set(match attribute {
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(entry) as c_int,
            4 => 32,     // registers
            5 | 6 => 90, // PTX and binary version
            8 => SHARED_BYTES_MAX as c_int,
            9 => -1, // preferred carve-out
            1..=15 => 0,
            _ => return Err(CUresult::INVALID_VALUE),
        })
    })
}

pub(super) unsafe extern "C" fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let offset = unsafe { Out::new(offset) };
    // SAFETY: null or valid for the call.
    let size = unsafe { Out::new(size) };
    let function = function_handle(function);
    call("cuFuncGetParamInfo", Named::Handle(function), |_, state| {
        let parameter = state
            .function(function)?
            .entry
            .parameters
            .get(index)
            .copied();
        let parameter = parameter.ok_or(CUresult::INVALID_VALUE)?;
        offset?.set(parameter.offset)?;
        // The caller may not want to know the size.
        size.map_or(Ok(()), |size| size.set(parameter.size))
    })
}

pub(super) unsafe extern "C" fn cuFuncGetParamCount(
    function: CUfunction,
    count: *mut usize,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let count = unsafe { Out::new(count) };
    let function = function_handle(function);
    call(
        "cuFuncGetParamCount",
        Named::Handle(function),
        |_, state| count?.set(state.function(function)?.entry.parameters.len()),
    )
}

#[allow(clippy::too_many_arguments)] // cuda.h's
pub(super) unsafe extern "C" fn cuLaunchKernel(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: CUstream,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> CUresult {
    let (function, stream) = (function_handle(function), Handle::from_ptr(stream.as_ptr()));
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    call(
        "cuLaunchKernel",
        Named::Handle(function),
        |machine, mut state| {
            let found = state.function(function)?;
            let (own, module, entry) = (found.context, found.module, Arc::clone(&found.entry));
            state.live(own)?;
            let stream = state.stream(stream)?;
            let (context, device) = state.home(stream)?;
            if context != own {
                return Err(CUresult::INVALID_HANDLE);
            }
            check_shape(&entry, grid, block, shared_bytes)?;
            // SAFETY: the caller passes a pointer to a value for each parameter of the kernel.
            let values = unsafe { read_parameters(&entry, parameters) }?;
            let Some(body) = machine.bodies().get(&entry.name).cloned() else {
                state.violation(format!(
                    "kernel `{}` was launched, and no body was registered for it",
                    entry.name
                ));
                return Err(CUresult::NOT_SUPPORTED);
            };
            let launch = Launch {
                module,
                entry,
                body,
                context,
                device,
                grid,
                block,
                shared_bytes,
                values,
            };
            machine.enqueue(&mut state, stream, Work::Launch(launch))?;
            Ok(())
        },
    )
}

fn max_threads(entry: &Entry) -> u32 {
    entry
        .max_threads
        .unwrap_or(BLOCK_THREADS_MAX)
        .min(BLOCK_THREADS_MAX)
}

fn check_shape(entry: &Entry, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Outcome {
    let fits = |shape: [u32; 3], limits: [u32; 3]| {
        shape
            .iter()
            .zip(limits)
            .all(|(&n, limit)| (1..=limit).contains(&n))
    };
    let threads = block
        .iter()
        .fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
    let is_possible = fits(grid, GRID_MAX)
        && fits(block, BLOCK_MAX)
        && threads <= u64::from(max_threads(entry))
        && shared_bytes <= SHARED_BYTES_MAX;
    if is_possible {
        Ok(())
    } else {
        Err(CUresult::INVALID_VALUE)
    }
}

/// The parameters' bytes at their offsets.
///
/// # Safety
/// `parameters` is null, or points to a pointer for each of the entry's parameters, each of which is null or points to
/// a value of that parameter's size.
unsafe fn read_parameters(entry: &Entry, parameters: *mut *mut c_void) -> Outcome<Vec<u8>> {
    let mut values = vec![0; entry.parameter_bytes()];
    if parameters.is_null() && !values.is_empty() {
        return Err(CUresult::INVALID_VALUE);
    }
    for (index, parameter) in entry.parameters.iter().enumerate() {
        // SAFETY: there are as many pointers as parameters (the caller's promise).
        let value = unsafe { parameters.add(index) };
        // SAFETY: as above.
        let value = unsafe { value.read() };
        if value.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        let to = &mut values[parameter.offset..][..parameter.size];
        // SAFETY: the value has the parameter's size (the caller's promise), and `to` is as long.
        unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), to.as_mut_ptr(), to.len()) };
    }
    Ok(values)
}
