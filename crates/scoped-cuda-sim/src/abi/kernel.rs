//! Functions and launches.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::attributes::SHARED_BYTES_OPTIN;
use crate::kernel::{Code, Launch, Shape};
use crate::machine::{Machine, Outcome, State};
use crate::occupancy;
use crate::ptx::Entry;
use crate::registry::{Handle, Named};
use crate::work::Work;
use scoped_cuda_sys::*;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Arc, MutexGuard};

pub(super) fn function_handle(function: CUfunction) -> Handle {
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
        let function = state.function(function)?;
        value?.set(match attribute {
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => {
                occupancy::max_threads(&function.entry) as c_int
            }
            CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => function.entry.shared_bytes as c_int,
            CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => 16,
            CU_FUNC_ATTRIBUTE_NUM_REGS => occupancy::REGISTERS as c_int,
            CU_FUNC_ATTRIBUTE_PTX_VERSION | CU_FUNC_ATTRIBUTE_BINARY_VERSION => 90,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => function.max_dynamic_shared as c_int,
            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => function.carveout,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                c_int::from(function.allows_large_clusters)
            }
            3 | 7 | 10..=13 | 15 => 0,
            _ => return Err(CUresult::INVALID_VALUE),
        })
    })
}

pub(super) unsafe extern "C" fn cuFuncSetAttribute(
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> CUresult {
    let function = function_handle(function);
    call(
        "cuFuncSetAttribute",
        Named::Handle(function),
        |_, mut state| {
            let function = state.function_mut(function)?;
            match attribute {
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                    if (0..=SHARED_BYTES_OPTIN as c_int - function.entry.shared_bytes as c_int)
                        .contains(&value) =>
                {
                    function.max_dynamic_shared = value.unsigned_abs();
                }
                CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
                    if (-1..=100).contains(&value) =>
                {
                    function.carveout = value;
                }
                CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                    function.allows_large_clusters = value != 0;
                }
                _ => return Err(CUresult::INVALID_VALUE),
            }
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuFuncSetCacheConfig(
    function: CUfunction,
    preference: CUfunc_cache,
) -> CUresult {
    let function = function_handle(function);
    call(
        "cuFuncSetCacheConfig",
        Named::Handle(function),
        |_, state| {
            state.function(function)?;
            if preference > CU_FUNC_CACHE_PREFER_EQUAL {
                return Err(CUresult::INVALID_VALUE);
            }
            Ok(())
        },
    )
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
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        shared_bytes,
        cluster: None,
        is_cooperative: false,
    };
    call(
        "cuLaunchKernel",
        Named::Handle(function),
        // SAFETY: the caller passes a pointer to a value for each parameter of the kernel.
        |machine, state| unsafe { launch(machine, state, function, stream, shape, parameters) },
    )
}

pub(super) unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    function: CUfunction,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> CUresult {
    let function = function_handle(function);
    call(
        "cuLaunchKernelEx",
        Named::Handle(function),
        |machine, state| {
            // SAFETY: null, or valid with as many attributes as it says.
            let (shape, stream) = unsafe { read_config(config) }?;
            // SAFETY: the caller passes a pointer to a value for each parameter of the kernel.
            unsafe { launch(machine, state, function, stream, shape, parameters) }
        },
    )
}

/// The shape and the stream of a launch.
///
/// # Safety
/// The pointer is null, or that of a configuration with as many attributes as it says.
pub(super) unsafe fn read_config(config: *const CUlaunchConfig) -> Outcome<(Shape, Handle)> {
    // SAFETY: the caller promises: the pointer is null, or that of a configuration with as many
    // attributes as it says.
    let config = unsafe { config.as_ref() }.ok_or(CUresult::INVALID_VALUE)?;
    let mut shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared_bytes: config.sharedMemBytes,
        cluster: None,
        is_cooperative: false,
    };
    for index in 0..config.numAttrs as usize {
        if config.attrs.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        // SAFETY: one of the attributes.
        let attribute = unsafe { config.attrs.add(index) };
        // SAFETY: as above.
        let attribute = unsafe { attribute.read() };
        let [x, y, z, ..] = attribute.value.pad;
        match attribute.id {
            CU_LAUNCH_ATTRIBUTE_COOPERATIVE => shape.is_cooperative = x != 0,
            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => shape.cluster = Some([x, y, z]),
            // The rest changes when a launch runs, which here is after the one ahead of it.
            0..=14 => {}
            _ => return Err(CUresult::INVALID_VALUE),
        }
    }
    Ok((shape, Handle::from_ptr(config.hStream.as_ptr())))
}

/// # Safety
/// As [`read_parameters`].
unsafe fn launch(
    machine: &Machine,
    mut state: MutexGuard<'_, State>,
    function: Handle,
    stream: Handle,
    shape: Shape,
    parameters: *mut *mut c_void,
) -> Outcome {
    let own = state.function(function)?.context;
    state.live(own)?;
    let stream = state.stream(stream)?;
    if state.home(stream)?.0 != own {
        return Err(CUresult::INVALID_HANDLE);
    }
    // SAFETY: the caller promises what `read_parameters` asks for.
    let launch = unsafe { launch_of(machine, &mut state, function, shape, parameters) }?;
    machine.enqueue(&mut state, stream, Work::Launch(launch))?;
    Ok(())
}

/// A launch in the function's own context.
///
/// # Safety
/// As [`read_parameters`].
pub(super) unsafe fn launch_of(
    machine: &Machine,
    state: &mut State,
    function: Handle,
    shape: Shape,
    parameters: *mut *mut c_void,
) -> Outcome<Launch> {
    let found = state.function(function)?;
    let (context, module, entry) = (found.context, found.module, Arc::clone(&found.entry));
    state.live(context)?;
    let device = state.device_of(context);
    occupancy::check(state.function(function)?, shape)?;
    // SAFETY: the caller promises what `read_parameters` asks for.
    let values = unsafe { read_parameters(&entry, parameters) }?;
    let body = machine.bodies().get(&entry.name).cloned();
    let code = match body {
        Some(body) => Code::Body(body),
        None => match prepare(state, module, &entry.name) {
            Ok(code) => code,
            Err(why) => {
                let name = &entry.name;
                state.violation(format!(
                    "kernel `{name}` was launched, no body was registered for it, and {why}"
                ));
                return Err(CUresult::NOT_SUPPORTED);
            }
        },
    };
    Ok(Launch {
        module,
        entry,
        code,
        context,
        device,
        shape,
        values,
    })
}

/// A kernel that runs from its PTX.
fn prepare(state: &State, module: Handle, kernel: &str) -> Result<Code, String> {
    let program = state.modules.get(&module).map(|module| &module.program);
    let program = Arc::clone(program.ok_or("its module is not loaded")?);
    let variables = program.prepare(kernel, state, module)?;
    Ok(Code::Ptx(program, variables))
}

/// The parameters' bytes at their offsets.
///
/// # Safety
/// `parameters` is null, or points to a pointer for each of the entry's parameters, each of which
/// is null or points to a value of that parameter's size. The value may have padding.
unsafe fn read_parameters(entry: &Entry, parameters: *mut *mut c_void) -> Outcome<Vec<u8>> {
    let mut values = vec![MaybeUninit::new(0); entry.parameter_bytes()];
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
        // Padding is copied as what it is: bytes that may be uninitialised.
        unsafe { ptr::copy_nonoverlapping(value.cast(), to.as_mut_ptr(), to.len()) };
    }
    Ok(frozen(&mut values))
}

/// Bytes of which some were never initialised, as whatever numbers they hold. A device reads
/// padding so too.
fn frozen(bytes: &mut [MaybeUninit<u8>]) -> Vec<u8> {
    let start = bytes.as_mut_ptr();
    // SAFETY: the assembly does nothing. For the compiler it may have written every byte that it
    // can reach, so that from here on each holds some number.
    unsafe { std::arch::asm!("/* {0} */", in(reg) start, options(nostack, preserves_flags)) };
    // SAFETY: every byte holds a number, as the line above says.
    bytes
        .iter()
        .map(|byte| unsafe { byte.assume_init() })
        .collect()
}
