//! A driver whose calls return at once: what is left is the crate's own time.

#![allow(unsafe_code)] // vouches for the entry points

use scoped_cuda::ffi::*;
use scoped_cuda::{Driver, Result};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn driver() -> Result<Driver> {
    // SAFETY: the functions below have the signatures of cuda.h (a `&mut` is passed like a `*mut`,
    // says the standard library's page on function pointers), and are part of this program. They do
    // no work, so they do none wrongly.
    unsafe { Driver::from_symbols(|name, _version| address(name)) }
}

/// Something to point at; each handle is the address of one.
static OBJECT: u8 = 0;
const ADDRESS: CUdeviceptr = 0x7000_0000_0000;

fn handle() -> *mut c_void {
    (&raw const OBJECT).cast_mut().cast()
}

/// One that no other object has: streams are told apart by their handles.
fn fresh_handle() -> *mut c_void {
    static MADE: AtomicUsize = AtomicUsize::new(1);
    handle().wrapping_byte_add(MADE.fetch_add(1, Ordering::Relaxed))
}

thread_local! {
    /// There is one context, so the depth is all there is to know about the thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// As on a real driver a thread begins in the global mode, so that each exchange is one of two.
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

/// The top of the thread's stack.
fn current() -> CUcontext {
    if DEPTH.get() == 0 {
        CUcontext::NULL
    } else {
        CUcontext::from_ptr(handle())
    }
}

/// The kernels are called `take1`, `take3`, ...: the number of parameters is in the name, and
/// becomes the function's handle.
fn function_named(name: &CStr) -> Option<CUfunction> {
    let count: usize = name.to_str().ok()?.strip_prefix("take")?.parse().ok()?;
    Some(CUfunction::from_ptr(ptr::without_provenance_mut(count)))
}

/// Offset and size of a parameter: an address first, 32-bit numbers after it.
fn parameter(function: CUfunction, index: usize) -> Option<(usize, usize)> {
    match index {
        _ if index >= function.as_ptr().addr() => None,
        0 => Some((0, 8)),
        _ => Some((4 + 4 * index, 4)),
    }
}

/// Defines the entry points, which succeed unless they return something else, and the table of
/// their addresses. Out-parameters are `&mut`: the crate and the benchmark pass pointers to
/// initialised values.
macro_rules! entry_points {
    ($($name:ident($($parameter:ident: $type:ty),*) $body:block)*) => {
        $(#[allow(non_snake_case)] // cuda.h's name
        extern "C" fn $name($($parameter: $type),*) -> CUresult {
            $body
            #[allow(unreachable_code)] // a body may return
            CUresult::SUCCESS
        })*

        fn address(name: &str) -> *const c_void {
            match name {
                $(stringify!($name) => $name as *const c_void,)*
                _ => ptr::null(),
            }
        }
    };
}

#[rustfmt::skip]
entry_points! {
    cuInit(_flags: c_uint) {}
    cuDriverGetVersion(version: &mut c_int) { *version = 13_000; }
    cuGetErrorName(_error: CUresult, name: &mut *const c_char) { *name = c"CUDA_ERROR".as_ptr(); }
    cuGetErrorString(_error: CUresult, text: &mut *const c_char) { *text = c"from the null driver".as_ptr(); }

    cuDeviceGetCount(count: &mut c_int) { *count = 1; }
    cuDeviceGet(device: &mut CUdevice, ordinal: c_int) { *device = ordinal; }
    cuDeviceGetName(_name: *mut c_char, _length: c_int, _device: CUdevice) {}
    cuDeviceGetUuid(_uuid: &mut CUuuid, _device: CUdevice) {}
    cuDeviceTotalMem(bytes: &mut usize, _device: CUdevice) { *bytes = 1 << 30; }
    cuDeviceGetAttribute(value: &mut c_int, _attribute: CUdevice_attribute, _device: CUdevice) { *value = 1024; }
    cuDeviceGetPCIBusId(_id: *mut c_char, _length: c_int, _device: CUdevice) {}
    cuDeviceCanAccessPeer(can: &mut c_int, _device: CUdevice, _peer: CUdevice) { *can = 0; }
    cuDeviceGetP2PAttribute(value: &mut c_int, _attribute: CUdevice_P2PAttribute, _device: CUdevice, _peer: CUdevice) { *value = 0; }

    cuDevicePrimaryCtxRetain(context: &mut CUcontext, _device: CUdevice) { *context = CUcontext::from_ptr(handle()); }
    cuDevicePrimaryCtxRelease(_device: CUdevice) {}
    cuCtxGetCurrent(context: &mut CUcontext) { *context = current(); }
    cuCtxPushCurrent(_context: CUcontext) { DEPTH.set(DEPTH.get() + 1); }
    cuCtxPopCurrent(context: &mut CUcontext) {
        *context = current();
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
    cuCtxGetId(_context: CUcontext, id: &mut c_ulonglong) { *id = 1; }
    cuCtxGetStreamPriorityRange(least: &mut c_int, greatest: &mut c_int) { (*least, *greatest) = (0, -5); }
    cuMemGetInfo(free: &mut usize, total: &mut usize) { (*free, *total) = (1 << 30, 1 << 30); }

    cuMemPoolCreate(pool: &mut CUmemoryPool, _properties: &CUmemPoolProps) { *pool = CUmemoryPool::from_ptr(handle()); }
    cuMemPoolDestroy(_pool: CUmemoryPool) {}
    cuMemPoolSetAttribute(_pool: CUmemoryPool, _attribute: CUmemPool_attribute, _value: *mut c_void) {}
    cuMemPoolGetAttribute(_pool: CUmemoryPool, _attribute: CUmemPool_attribute, _value: *mut c_void) {}
    cuMemPoolTrimTo(_pool: CUmemoryPool, _keep: usize) {}
    cuMemPoolSetAccess(_pool: CUmemoryPool, _access: &CUmemAccessDesc, _count: usize) {}
    cuMemAllocFromPoolAsync(address: &mut CUdeviceptr, _bytes: usize, _pool: CUmemoryPool, _stream: CUstream) { *address = ADDRESS; }
    cuMemFreeAsync(_address: CUdeviceptr, _stream: CUstream) {}
    cuMemcpyHtoDAsync(_to: CUdeviceptr, _from: *const c_void, _bytes: usize, _stream: CUstream) {}
    cuMemcpyDtoHAsync(_to: *mut c_void, _from: CUdeviceptr, _bytes: usize, _stream: CUstream) {}
    cuMemcpyDtoDAsync(_to: CUdeviceptr, _from: CUdeviceptr, _bytes: usize, _stream: CUstream) {}
    cuMemcpyPeerAsync(_to: CUdeviceptr, _to_context: CUcontext, _from: CUdeviceptr, _from_context: CUcontext, _bytes: usize, _stream: CUstream) {}
    cuMemsetD8Async(_to: CUdeviceptr, _value: c_uchar, _count: usize, _stream: CUstream) {}
    cuMemsetD16Async(_to: CUdeviceptr, _value: c_ushort, _count: usize, _stream: CUstream) {}
    cuMemsetD32Async(_to: CUdeviceptr, _value: c_uint, _count: usize, _stream: CUstream) {}
    cuMemcpy2DAsync(_copy: &CUDA_MEMCPY2D, _stream: CUstream) {}
    cuMemcpy3DAsync(_copy: &CUDA_MEMCPY3D, _stream: CUstream) {}
    cuMemcpy3DPeerAsync(_copy: &CUDA_MEMCPY3D_PEER, _stream: CUstream) {}
    cuMemsetD2D8Async(_to: CUdeviceptr, _pitch: usize, _value: c_uchar, _width: usize, _height: usize, _stream: CUstream) {}
    cuMemsetD2D16Async(_to: CUdeviceptr, _pitch: usize, _value: c_ushort, _width: usize, _height: usize, _stream: CUstream) {}
    cuMemsetD2D32Async(_to: CUdeviceptr, _pitch: usize, _value: c_uint, _width: usize, _height: usize, _stream: CUstream) {}
    cuMemAlloc(address: &mut CUdeviceptr, _bytes: usize) { *address = ADDRESS; }
    cuMemFree(_address: CUdeviceptr) {}
    cuMemHostAlloc(memory: &mut *mut c_void, bytes: usize, _flags: c_uint) { *memory = leaked(bytes); }
    cuMemFreeHost(_memory: *mut c_void) {}
    cuMemHostRegister(_memory: *mut c_void, _bytes: usize, _flags: c_uint) {}
    cuMemHostUnregister(_memory: *mut c_void) {}
    cuMemAllocManaged(address: &mut CUdeviceptr, bytes: usize, _flags: c_uint) { *address = leaked(bytes).expose_provenance() as CUdeviceptr; }
    cuMemHostGetDevicePointer(address: &mut CUdeviceptr, _memory: *mut c_void, _flags: c_uint) { *address = ADDRESS; }

    cuStreamCreate(stream: &mut CUstream, _flags: c_uint) { *stream = CUstream::from_ptr(fresh_handle()); }
    cuStreamCreateWithPriority(stream: &mut CUstream, _flags: c_uint, _priority: c_int) { *stream = CUstream::from_ptr(fresh_handle()); }
    cuStreamDestroy(_stream: CUstream) {}
    cuStreamSynchronize(_stream: CUstream) {}
    cuStreamQuery(_stream: CUstream) {}
    cuStreamWaitEvent(_stream: CUstream, _event: CUevent, _flags: c_uint) {}
    cuThreadExchangeStreamCaptureMode(mode: &mut CUstreamCaptureMode) { *mode = MODE.replace(*mode); }
    cuEventCreate(event: &mut CUevent, _flags: c_uint) { *event = CUevent::from_ptr(handle()); }
    cuEventDestroy(_event: CUevent) {}
    cuEventRecord(_event: CUevent, _stream: CUstream) {}
    cuEventQuery(_event: CUevent) {}
    cuEventSynchronize(_event: CUevent) {}
    cuEventElapsedTime(milliseconds: &mut f32, _start: CUevent, _end: CUevent) { *milliseconds = 0.0; }
    cuLaunchHostFunc(_stream: CUstream, function: CUhostFn, user_data: *mut c_void) {
        // SAFETY: its caller lets the driver call it with this data.
        unsafe { function(user_data) }
    }

    cuGraphCreate(graph: &mut CUgraph, _flags: c_uint) { *graph = CUgraph::from_ptr(handle()); }
    cuGraphDestroy(_graph: CUgraph) {}
    cuGraphAddKernelNode(node: &mut CUgraphNode, _graph: CUgraph, _after: *const CUgraphNode, _count: usize, _parameters: *const CUDA_KERNEL_NODE_PARAMS) {
        *node = CUgraphNode::from_ptr(handle());
    }
    cuGraphAddMemcpyNode(
        node: &mut CUgraphNode, _graph: CUgraph, _after: *const CUgraphNode, _count: usize, _copy: *const CUDA_MEMCPY3D, _context: CUcontext
    ) { *node = CUgraphNode::from_ptr(handle()); }
    cuGraphAddMemsetNode(
        node: &mut CUgraphNode, _graph: CUgraph, _after: *const CUgraphNode, _count: usize, _parameters: *const CUDA_MEMSET_NODE_PARAMS,
        _context: CUcontext
    ) { *node = CUgraphNode::from_ptr(handle()); }
    cuGraphAddEmptyNode(node: &mut CUgraphNode, _graph: CUgraph, _after: *const CUgraphNode, _count: usize) { *node = CUgraphNode::from_ptr(handle()); }
    cuGraphInstantiateWithFlags(exec: &mut CUgraphExec, _graph: CUgraph, _flags: c_ulonglong) { *exec = CUgraphExec::from_ptr(handle()); }
    cuGraphExecDestroy(_exec: CUgraphExec) {}
    cuGraphUpload(_exec: CUgraphExec, _stream: CUstream) {}
    cuGraphLaunch(_exec: CUgraphExec, _stream: CUstream) {}
    cuGraphExecKernelNodeSetParams(_exec: CUgraphExec, _node: CUgraphNode, _parameters: *const CUDA_KERNEL_NODE_PARAMS) {}
    cuGraphNodeSetEnabled(_exec: CUgraphExec, _node: CUgraphNode, _is_enabled: c_uint) {}
    cuGraphNodeGetEnabled(_exec: CUgraphExec, _node: CUgraphNode, is_enabled: &mut c_uint) { *is_enabled = 1; }

    cuModuleLoadDataEx(module: &mut CUmodule, _image: *const c_void, _count: c_uint, _options: *mut CUjit_option, _values: *mut *mut c_void) {
        *module = CUmodule::from_ptr(handle());
    }
    cuLinkCreate(_count: c_uint, _options: *mut CUjit_option, _values: *mut *mut c_void, state: &mut CUlinkState) {
        *state = CUlinkState::from_ptr(handle());
    }
    cuLinkAddData(
        _state: CUlinkState, _kind: CUjitInputType, _data: *mut c_void, _bytes: usize, _name: *const c_char, _count: c_uint,
        _options: *mut CUjit_option, _values: *mut *mut c_void
    ) {}
    cuLinkComplete(_state: CUlinkState, cubin: &mut *mut c_void, bytes: &mut usize) { (*cubin, *bytes) = (handle(), 1); }
    cuLinkDestroy(_state: CUlinkState) {}
    cuModuleUnload(_module: CUmodule) {}
    cuModuleGetFunction(function: &mut CUfunction, _module: CUmodule, name: *const c_char) {
        // SAFETY: callers pass NUL-terminated names.
        match function_named(unsafe { CStr::from_ptr(name) }) {
            Some(named) => *function = named,
            None => return CUresult::NOT_FOUND,
        }
    }
    cuModuleGetGlobal(address: &mut CUdeviceptr, bytes: &mut usize, _module: CUmodule, _name: *const c_char) { (*address, *bytes) = (ADDRESS, 4); }
    cuFuncGetAttribute(value: &mut c_int, _attribute: CUfunction_attribute, _function: CUfunction) { *value = 1024; }
    cuFuncGetParamInfo(function: CUfunction, index: usize, offset: &mut usize, size: &mut usize) {
        match parameter(function, index) {
            Some(found) => (*offset, *size) = found,
            None => return CUresult::INVALID_VALUE,
        }
    }
    cuFuncSetAttribute(_function: CUfunction, _attribute: CUfunction_attribute, _value: c_int) {}
    cuFuncSetCacheConfig(_function: CUfunction, _preference: CUfunc_cache) {}
    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: &mut c_int, _function: CUfunction, _threads: c_int, _shared_bytes: usize) {
        *blocks = 1;
    }
    cuOccupancyMaxPotentialClusterSize(blocks: &mut c_int, _function: CUfunction, _config: *const CUlaunchConfig) { *blocks = 1; }
    cuOccupancyMaxActiveClusters(clusters: &mut c_int, _function: CUfunction, _config: *const CUlaunchConfig) { *clusters = 1; }
    cuLaunchKernelEx(
        _config: *const CUlaunchConfig, _function: CUfunction, _parameters: *mut *mut c_void, _extra: *mut *mut c_void
    ) {}
    cuLaunchKernel(
        _function: CUfunction, _grid_x: c_uint, _grid_y: c_uint, _grid_z: c_uint, _block_x: c_uint, _block_y: c_uint, _block_z: c_uint,
        _shared_bytes: c_uint, _stream: CUstream, _parameters: *mut *mut c_void, _extra: *mut *mut c_void
    ) {}
}

/// Zeroed host memory for a program that soon ends.
fn leaked(bytes: usize) -> *mut c_void {
    // 64-bit words, so that it is aligned as any allocation of the driver's.
    Vec::leak(vec![0u64; bytes.div_ceil(8)]).as_mut_ptr().cast()
}
