//! One thin function per driver call: out-parameters become return values, a result code becomes a [`Result`].
//!
//! This is the only place that does either. A call that takes a handle or an address is `unsafe fn`: whoever calls it proves that
//! the handle is live and the memory valid. A call that takes plain values is safe, because the driver checks those itself.

#![allow(unsafe_code)] // every driver call of the crate is made here

use super::types::*;
use crate::driver::Driver;
use crate::error::{Error, Result, Version};
use crate::ffi::Symbols;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{mem, ptr};

impl Driver {
    /// Makes a driver call, unless an earlier fault has made that pointless (claim C10).
    #[inline]
    fn call(self, name: &'static str, call: impl FnOnce(&Symbols) -> CUresult) -> Result<()> {
        self.unpoisoned()?;
        self.call_regardless(name, call)
    }

    /// Makes a driver call even after a fault: for what has to be put back, and for waiting.
    #[inline]
    fn call_regardless(
        self,
        name: &'static str,
        call: impl FnOnce(&Symbols) -> CUresult,
    ) -> Result<()> {
        let code = call(self.symbols());
        if code == CUresult::SUCCESS {
            Ok(())
        } else {
            Err(self.failed(code, name))
        }
    }
}

// The driver and its devices.

pub(crate) fn init(driver: Driver) -> Result<()> {
    // SAFETY: takes a plain value.
    driver.call("cuInit", |s| unsafe { (s.cuInit)(0) })
}

/// The driver's version, asked before there is a [`Driver`]; 0 when it does not say.
///
/// # Safety
/// `address` is null or that of `cuDriverGetVersion`.
pub(crate) unsafe fn driver_version(address: *const c_void) -> Version {
    // SAFETY: the caller's promise; `Option` of a function pointer has null for `None`.
    let get = unsafe {
        mem::transmute::<*const c_void, Option<unsafe extern "C" fn(*mut c_int) -> CUresult>>(
            address,
        )
    };
    let mut version = 0;
    if let Some(get) = get {
        // SAFETY: the out-pointer is valid for the call.
        let code = unsafe { get(&raw mut version) };
        if code != CUresult::SUCCESS {
            return Version(0);
        }
    }
    Version(version)
}

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
    // SAFETY: the driver returns a NUL-terminated string in its own constant data, and it is never unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

pub(crate) fn device_count(driver: Driver) -> Result<c_int> {
    let mut count = 0;
    // SAFETY: the out-pointer is valid for the call.
    driver.call("cuDeviceGetCount", |s| unsafe {
        (s.cuDeviceGetCount)(&raw mut count)
    })?;
    Ok(count)
}

pub(crate) fn device_get(driver: Driver, ordinal: c_int) -> Result<CUdevice> {
    let mut device = 0;
    // SAFETY: the driver checks the ordinal; the out-pointer is valid for the call.
    driver.call("cuDeviceGet", |s| unsafe {
        (s.cuDeviceGet)(&raw mut device, ordinal)
    })?;
    Ok(device)
}

pub(crate) fn device_name(driver: Driver, device: CUdevice) -> Result<String> {
    let mut name = [0; 256];
    let length = name.len() as c_int;
    driver.call("cuDeviceGetName", |s| {
        // SAFETY: the driver checks the device and writes at most `length` bytes, the NUL included.
        unsafe { (s.cuDeviceGetName)(name.as_mut_ptr(), length, device) }
    })?;
    Ok(text(&name))
}

pub(crate) fn device_uuid(driver: Driver, device: CUdevice) -> Result<CUuuid> {
    let mut uuid = CUuuid::default();
    // SAFETY: the driver checks the device; the out-pointer is valid for the call.
    driver.call("cuDeviceGetUuid", |s| unsafe {
        (s.cuDeviceGetUuid)(&raw mut uuid, device)
    })?;
    Ok(uuid)
}

pub(crate) fn device_total_mem(driver: Driver, device: CUdevice) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: the driver checks the device; the out-pointer is valid for the call.
    driver.call("cuDeviceTotalMem", |s| unsafe {
        (s.cuDeviceTotalMem)(&raw mut bytes, device)
    })?;
    Ok(bytes)
}

pub(crate) fn device_attribute(
    driver: Driver,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> Result<c_int> {
    let mut value = 0;
    driver.call("cuDeviceGetAttribute", |s| {
        // SAFETY: the driver checks the device and the attribute; the out-pointer is valid for the call.
        unsafe { (s.cuDeviceGetAttribute)(&raw mut value, attribute, device) }
    })?;
    Ok(value)
}

pub(crate) fn device_pci_bus_id(driver: Driver, device: CUdevice) -> Result<String> {
    let mut id = [0; 32];
    let length = id.len() as c_int;
    driver.call("cuDeviceGetPCIBusId", |s| {
        // SAFETY: the driver checks the device and writes at most `length` bytes, the NUL included.
        unsafe { (s.cuDeviceGetPCIBusId)(id.as_mut_ptr(), length, device) }
    })?;
    Ok(text(&id))
}

pub(crate) fn device_can_access_peer(
    driver: Driver,
    device: CUdevice,
    peer: CUdevice,
) -> Result<bool> {
    let mut can = 0;
    driver.call("cuDeviceCanAccessPeer", |s| {
        // SAFETY: the driver checks both devices; the out-pointer is valid for the call.
        unsafe { (s.cuDeviceCanAccessPeer)(&raw mut can, device, peer) }
    })?;
    Ok(can != 0)
}

/// The bytes before the first NUL; a byte that is not UTF-8 becomes U+FFFD.
fn text(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> = bytes
        .iter()
        .take_while(|&&b| b != 0)
        .map(|&b| b as u8)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

// Contexts and the thread's context stack.

pub(crate) fn primary_ctx_retain(driver: Driver, device: CUdevice) -> Result<CUcontext> {
    let mut context = CUcontext::NULL;
    driver.call("cuDevicePrimaryCtxRetain", |s| {
        // SAFETY: the driver checks the device; the out-pointer is valid for the call.
        unsafe { (s.cuDevicePrimaryCtxRetain)(&raw mut context, device) }
    })?;
    Ok(context)
}

/// # Safety
/// The caller owns one retain of the device's primary context and nothing made from it is used afterwards.
pub(crate) unsafe fn primary_ctx_release(driver: Driver, device: CUdevice) -> Result<()> {
    driver.call_regardless("cuDevicePrimaryCtxRelease", |s| {
        // SAFETY: the caller's promise.
        unsafe { (s.cuDevicePrimaryCtxRelease)(device) }
    })
}

#[inline]
pub(crate) fn ctx_get_current(driver: Driver) -> Result<CUcontext> {
    let mut context = CUcontext::NULL;
    driver.call_regardless("cuCtxGetCurrent", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuCtxGetCurrent)(&raw mut context) }
    })?;
    Ok(context)
}

/// # Safety
/// `context` came from the driver. It may be dead: the driver then puts the dead handle on the stack (measured).
pub(crate) unsafe fn ctx_push_current(driver: Driver, context: CUcontext) -> Result<()> {
    driver.call_regardless("cuCtxPushCurrent", |s| {
        // SAFETY: the caller's promise.
        unsafe { (s.cuCtxPushCurrent)(context) }
    })
}

/// # Safety
/// Nobody relies on the top of this thread's context stack.
pub(crate) unsafe fn ctx_pop_current(driver: Driver) -> Result<CUcontext> {
    let mut context = CUcontext::NULL;
    driver.call_regardless("cuCtxPopCurrent", |s| {
        // SAFETY: the out-pointer is valid for the call; the rest is the caller's promise.
        unsafe { (s.cuCtxPopCurrent)(&raw mut context) }
    })?;
    Ok(context)
}

/// The number that tells a context from a later one with the same handle; fails for a context that is gone.
///
/// # Safety
/// `context` came from the driver. It may be dead.
#[inline]
pub(crate) unsafe fn ctx_get_id(driver: Driver, context: CUcontext) -> Result<u64> {
    let mut id = 0;
    driver.call_regardless("cuCtxGetId", |s| {
        // SAFETY: the caller's promise; the out-pointer is valid for the call.
        unsafe { (s.cuCtxGetId)(context, &raw mut id) }
    })?;
    Ok(id)
}

/// Free and total bytes of the current context's device.
pub(crate) fn mem_get_info(driver: Driver) -> Result<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the out-pointers are valid for the call.
    driver.call("cuMemGetInfo", |s| unsafe {
        (s.cuMemGetInfo)(&raw mut free, &raw mut total)
    })?;
    Ok((free, total))
}

// Memory.

pub(crate) fn mem_pool_create(driver: Driver, device: CUdevice) -> Result<CUmemoryPool> {
    let properties = CUmemPoolProps {
        allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: 0,
        location: CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device,
        },
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        usage: 0,
        reserved: [0; 54],
    };
    let mut pool = CUmemoryPool::NULL;
    driver.call("cuMemPoolCreate", |s| {
        // SAFETY: the properties are complete and the driver checks them; the pointers are valid for the call.
        unsafe { (s.cuMemPoolCreate)(&raw mut pool, &raw const properties) }
    })?;
    Ok(pool)
}

/// # Safety
/// `pool` is live and not used afterwards.
pub(crate) unsafe fn mem_pool_destroy(driver: Driver, pool: CUmemoryPool) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemPoolDestroy", |s| unsafe {
        (s.cuMemPoolDestroy)(pool)
    })
}

/// Keeps up to `bytes` at a synchronise instead of giving them back.
///
/// # Safety
/// `pool` is live.
pub(crate) unsafe fn mem_pool_set_release_threshold(
    driver: Driver,
    pool: CUmemoryPool,
    mut bytes: u64,
) -> Result<()> {
    driver.call("cuMemPoolSetAttribute", |s| {
        // SAFETY: the caller's promise; this attribute is a 64-bit number and the pointer is valid for the call.
        unsafe {
            (s.cuMemPoolSetAttribute)(
                pool,
                CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut bytes).cast(),
            )
        }
    })
}

/// Lets `device` read and write the pool's memory.
///
/// # Safety
/// `pool` is live.
pub(crate) unsafe fn mem_pool_set_access(
    driver: Driver,
    pool: CUmemoryPool,
    device: CUdevice,
) -> Result<()> {
    let access = CUmemAccessDesc {
        location: CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device,
        },
        flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    driver.call("cuMemPoolSetAccess", |s| {
        // SAFETY: the caller's promise; one description is passed and counted.
        unsafe { (s.cuMemPoolSetAccess)(pool, &raw const access, 1) }
    })
}

/// # Safety
/// `pool` and `stream` are live and belong to one device. The memory may be used on `stream`, and elsewhere once that is ordered
/// after this call.
#[inline]
pub(crate) unsafe fn mem_alloc_from_pool_async(
    driver: Driver,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Result<CUdeviceptr> {
    let mut address = 0;
    driver.call("cuMemAllocFromPoolAsync", |s| {
        // SAFETY: the caller's promise; the out-pointer is valid for the call.
        unsafe { (s.cuMemAllocFromPoolAsync)(&raw mut address, bytes, pool, stream) }
    })?;
    Ok(address)
}

/// # Safety
/// `address` is the start of a live allocation, `stream` is live, and every use of the memory is ordered before this point of it.
#[inline]
pub(crate) unsafe fn mem_free_async(
    driver: Driver,
    address: CUdeviceptr,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemFreeAsync", |s| unsafe {
        (s.cuMemFreeAsync)(address, stream)
    })
}

/// # Safety
/// `to` has room for `bytes`, `from` holds `bytes`, both stay so and `from` unchanged until `stream` has passed this point; `stream`
/// is live and nothing else touches `to` in the meantime.
#[inline]
pub(crate) unsafe fn memcpy_htod_async(
    driver: Driver,
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemcpyHtoDAsync", |s| unsafe {
        (s.cuMemcpyHtoDAsync)(to, from, bytes, stream)
    })
}

/// # Safety
/// As [`memcpy_htod_async`], the other way round.
#[inline]
pub(crate) unsafe fn memcpy_dtoh_async(
    driver: Driver,
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemcpyDtoHAsync", |s| unsafe {
        (s.cuMemcpyDtoHAsync)(to, from, bytes, stream)
    })
}

/// # Safety
/// As [`memcpy_htod_async`], both sides in memory of the stream's device and not overlapping.
#[inline]
pub(crate) unsafe fn memcpy_dtod_async(
    driver: Driver,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemcpyDtoDAsync", |s| unsafe {
        (s.cuMemcpyDtoDAsync)(to, from, bytes, stream)
    })
}

/// One side of [`memcpy_peer_async`].
#[derive(Clone, Copy)]
pub(crate) struct PeerAddress {
    pub(crate) context: CUcontext,
    pub(crate) address: CUdeviceptr,
}

/// # Safety
/// As [`memcpy_htod_async`]; each context is live and the one whose device has the memory.
#[inline]
pub(crate) unsafe fn memcpy_peer_async(
    driver: Driver,
    to: PeerAddress,
    from: PeerAddress,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    driver.call("cuMemcpyPeerAsync", |s| {
        // SAFETY: the caller's promise.
        unsafe {
            (s.cuMemcpyPeerAsync)(
                to.address,
                to.context,
                from.address,
                from.context,
                bytes,
                stream,
            )
        }
    })
}

/// # Safety
/// `to` has room for `count` bytes until `stream`, which is live, has passed this point, and nothing else touches them.
#[inline]
pub(crate) unsafe fn memset_d8_async(
    driver: Driver,
    to: CUdeviceptr,
    value: u8,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemsetD8Async", |s| unsafe {
        (s.cuMemsetD8Async)(to, value, count, stream)
    })
}

/// # Safety
/// As [`memset_d8_async`], for `count` elements of 2 bytes; `to` is aligned to 2.
#[inline]
pub(crate) unsafe fn memset_d16_async(
    driver: Driver,
    to: CUdeviceptr,
    value: u16,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemsetD16Async", |s| unsafe {
        (s.cuMemsetD16Async)(to, value, count, stream)
    })
}

/// # Safety
/// As [`memset_d8_async`], for `count` elements of 4 bytes; `to` is aligned to 4.
#[inline]
pub(crate) unsafe fn memset_d32_async(
    driver: Driver,
    to: CUdeviceptr,
    value: u32,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuMemsetD32Async", |s| unsafe {
        (s.cuMemsetD32Async)(to, value, count, stream)
    })
}

// Streams and events.

/// A non-blocking stream of the current context.
pub(crate) fn stream_create(driver: Driver) -> Result<CUstream> {
    let mut stream = CUstream::NULL;
    driver.call("cuStreamCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuStreamCreate)(&raw mut stream, CU_STREAM_NON_BLOCKING) }
    })?;
    Ok(stream)
}

/// # Safety
/// `stream` is live and not used afterwards.
pub(crate) unsafe fn stream_destroy(driver: Driver, stream: CUstream) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuStreamDestroy", |s| unsafe {
        (s.cuStreamDestroy)(stream)
    })
}

/// Waits even on a poisoned driver: its answer is what proves that the work has stopped.
///
/// # Safety
/// `stream` is live.
#[inline]
pub(crate) unsafe fn stream_synchronize(driver: Driver, stream: CUstream) -> Result<(), CUresult> {
    // SAFETY: the caller's promise.
    let code = unsafe { (driver.symbols().cuStreamSynchronize)(stream) };
    if code == CUresult::SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// The raw answer: `NOT_READY` while work is pending.
///
/// # Safety
/// `stream` is live.
pub(crate) unsafe fn stream_query(driver: Driver, stream: CUstream) -> CUresult {
    // SAFETY: the caller's promise.
    unsafe { (driver.symbols().cuStreamQuery)(stream) }
}

/// # Safety
/// Both are live. They may belong to different contexts.
#[inline]
pub(crate) unsafe fn stream_wait_event(
    driver: Driver,
    stream: CUstream,
    event: CUevent,
) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuStreamWaitEvent", |s| unsafe {
        (s.cuStreamWaitEvent)(stream, event, 0)
    })
}

/// An event of the current context that records no time.
pub(crate) fn event_create(driver: Driver) -> Result<CUevent> {
    let mut event = CUevent::NULL;
    driver.call("cuEventCreate", |s| {
        // SAFETY: the out-pointer is valid for the call.
        unsafe { (s.cuEventCreate)(&raw mut event, CU_EVENT_DISABLE_TIMING) }
    })?;
    Ok(event)
}

/// # Safety
/// `event` is live and not used afterwards.
pub(crate) unsafe fn event_destroy(driver: Driver, event: CUevent) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuEventDestroy", |s| unsafe { (s.cuEventDestroy)(event) })
}

/// # Safety
/// Both are live and belong to one context.
#[inline]
pub(crate) unsafe fn event_record(driver: Driver, event: CUevent, stream: CUstream) -> Result<()> {
    // SAFETY: the caller's promise.
    driver.call("cuEventRecord", |s| unsafe {
        (s.cuEventRecord)(event, stream)
    })
}

// Modules and kernels.

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

const _: () = assert!(
    mem::size_of::<CUdeviceptr>() == 8,
    "device addresses are 64-bit"
);
