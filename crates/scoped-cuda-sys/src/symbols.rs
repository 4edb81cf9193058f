//! The symbol table: one line per entry point.

#![allow(unsafe_code)] // turns addresses into typed function pointers

use crate::LoadError;
use crate::types::*;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

/// What this crate knows about a driver entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name for `cuGetProcAddress_v2`, without a version suffix.
    pub name: &'static str,
    /// The CUDA version whose signature is meant, as `1000 * major + 10 * minor`. The driver picks
    /// the signature by it, so this is the version in which the wanted signature appeared and never
    /// a newer one (a version above the driver's own finds nothing).
    pub version: c_int,
    /// Whether the crate can do without it.
    pub presence: Presence,
    /// Whether the call looks at the context that is current on the thread.
    pub context: NeedsContext,
    /// The parameter types, in Rust's spelling.
    pub parameters: &'static [&'static str],
}

/// Whether a driver must have a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types)]
pub enum Presence {
    /// Present in every driver since CUDA 12.0; without it there is no table.
    required,
    /// Missing in some drivers; then what needs it cannot be used.
    optional,
}

/// Whether a call depends on the thread's current context (measured on a real driver, CUDA 13.0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types)]
pub enum NeedsContext {
    /// No: the call names all it needs.
    any,
    /// Yes: it fails without one, and with a wrong one creates its object on the wrong device or
    /// refuses.
    own,
}

macro_rules! field {
    (required, ($($type:ty),*)) => { unsafe extern "C" fn($($type),*) -> CUresult };
    (optional, ($($type:ty),*)) => { Option<unsafe extern "C" fn($($type),*) -> CUresult> };
}

// The target of each transmute is the type of the field, which the same line of the table declares.
macro_rules! resolve {
    (required, $symbol:expr, $address:expr) => {{
        let address: *const c_void = $address;
        if address.is_null() {
            return Err(LoadError::missing($symbol));
        }
        // SAFETY: `Symbols::resolve` requires the address of a function with the C signature in
        // this line of the table; it is not null.
        unsafe { std::mem::transmute(address) }
    }};
    (optional, $symbol:expr, $address:expr) => {
        // SAFETY: as above; `Option` of a function pointer has null for `None` (guaranteed by the
        // standard library).
        unsafe { std::mem::transmute($address) }
    };
}

macro_rules! symbols {
    ($($name:ident $version:literal $presence:ident $context:ident ($($parameter:ident: $type:ty),*);)*) => {
        /// The entry points, typed. Optional ones are `None` when the driver lacks them.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub struct Symbols {$(
            #[doc = concat!("`", stringify!($name), "`, CUDA ", stringify!($version), ".")]
            pub $name: field!($presence, ($($type),*)),
        )*}

        /// Every entry point that the crate uses.
        pub const SYMBOLS: &[Symbol] = &[$(Symbol {
            name: stringify!($name),
            version: $version,
            presence: Presence::$presence,
            context: NeedsContext::$context,
            parameters: &[$(stringify!($type)),*],
        },)*];

        impl Symbols {
            /// Fills the table by asking `address` for each symbol in turn.
            ///
            /// # Errors
            /// [`LoadError::SymbolMissing`] for the first required symbol whose address is null.
            ///
            /// # Safety
            /// Each address is null, or the address of a function with the signature that `cuda.h`
            /// gives the symbol in its [`version`](Symbol::version), and stays callable for the
            /// rest of the process.
            #[allow(non_snake_case, clippy::missing_transmute_annotations)] // variables named and typed after the fields
            pub unsafe fn resolve(mut address: impl FnMut(&Symbol) -> *const c_void) -> Result<Self, LoadError> {
                let mut table = SYMBOLS.iter();
                $(
                    let symbol = table.next().unwrap_or(&SYMBOLS[0]);
                    let $name = resolve!($presence, symbol, address(symbol));
                )*
                Ok(Self { $($name),* })
            }
        }
    };
}

#[rustfmt::skip]
symbols! {
    // the driver
    cuInit                      2000  required any (flags: c_uint);
    cuDriverGetVersion          2020  required any (version: *mut c_int);
    cuGetErrorName              6000  required any (error: CUresult, name: *mut *const c_char);
    cuGetErrorString            6000  required any (error: CUresult, text: *mut *const c_char);
    // devices
    cuDeviceGetCount            2000  required any (count: *mut c_int);
    cuDeviceGet                 2000  required any (device: *mut CUdevice, ordinal: c_int);
    cuDeviceGetName             2000  required any (name: *mut c_char, length: c_int, device: CUdevice);
    cuDeviceGetUuid             11040 required any (uuid: *mut CUuuid, device: CUdevice);
    cuDeviceTotalMem            3020  required any (bytes: *mut usize, device: CUdevice);
    cuDeviceGetAttribute        2000  required any (value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    cuDeviceGetPCIBusId         4010  required any (id: *mut c_char, length: c_int, device: CUdevice);
    cuDeviceCanAccessPeer       4000  required any (can: *mut c_int, device: CUdevice, peer: CUdevice);
    cuDeviceGetP2PAttribute     8000  required any (value: *mut c_int, attribute: CUdevice_P2PAttribute, device: CUdevice, peer: CUdevice);
    // contexts
    cuDevicePrimaryCtxRetain    7000  required any (context: *mut CUcontext, device: CUdevice);
    cuDevicePrimaryCtxRelease   11000 required any (device: CUdevice);
    cuCtxGetCurrent             4000  required any (context: *mut CUcontext);
    cuCtxPushCurrent            4000  required any (context: CUcontext);
    cuCtxPopCurrent             4000  required any (context: *mut CUcontext);
    cuCtxGetId                  12000 required any (context: CUcontext, id: *mut c_ulonglong);
    cuCtxGetStreamPriorityRange 5050  required own (least: *mut c_int, greatest: *mut c_int);
    cuMemGetInfo                3020  required own (free: *mut usize, total: *mut usize);
    // memory
    cuMemPoolCreate             11020 required any (pool: *mut CUmemoryPool, properties: *const CUmemPoolProps);
    cuMemPoolDestroy            11020 required any (pool: CUmemoryPool);
    cuMemPoolSetAttribute       11020 required any (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
    cuMemPoolGetAttribute       11020 required any (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
    cuMemPoolTrimTo             11020 required any (pool: CUmemoryPool, keep: usize);
    cuMemPoolSetAccess          11020 required any (pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize);
    cuMemAllocFromPoolAsync     11020 required any (address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream);
    cuMemFreeAsync              11020 required any (address: CUdeviceptr, stream: CUstream);
    cuMemcpyHtoDAsync           3020  required own (to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    cuMemcpyDtoHAsync           3020  required own (to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyDtoDAsync           3020  required own (to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyPeerAsync           4000  required any (to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize, stream: CUstream);
    cuMemsetD8Async             3020  required any (to: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
    cuMemsetD16Async            3020  required any (to: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream);
    cuMemsetD32Async            3020  required any (to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream);
    // host memory
    cuMemHostAlloc              2020  required own (memory: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost               2000  required any (memory: *mut c_void);
    cuMemHostGetDevicePointer   3020  required own (address: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint);
    cuMemHostRegister           6050  required own (memory: *mut c_void, bytes: usize, flags: c_uint);
    cuMemHostUnregister         4000  required own (memory: *mut c_void);
    cuMemAllocManaged           6000  required own (address: *mut CUdeviceptr, bytes: usize, flags: c_uint);
    cuMemFree                   3020  required any (address: CUdeviceptr);
    cuMemPrefetchAsync          8000  optional own (address: CUdeviceptr, bytes: usize, device: CUdevice, stream: CUstream);
    cuMemAdvise                 8000  optional own (address: CUdeviceptr, bytes: usize, advice: CUmem_advise, device: CUdevice);
    // memory in rows
    cuMemcpy2DAsync             3020  required own (copy: *const CUDA_MEMCPY2D, stream: CUstream);
    cuMemcpy3DAsync             3020  required own (copy: *const CUDA_MEMCPY3D, stream: CUstream);
    cuMemcpy3DPeerAsync         4000  required own (copy: *const CUDA_MEMCPY3D_PEER, stream: CUstream);
    cuMemsetD2D8Async           3020  required own (to: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize, stream: CUstream);
    cuMemsetD2D16Async          3020  required own (to: CUdeviceptr, pitch: usize, value: c_ushort, width: usize, height: usize, stream: CUstream);
    cuMemsetD2D32Async          3020  required own (to: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize, stream: CUstream);
    // streams, events and host functions
    cuStreamCreate              2000  required own (stream: *mut CUstream, flags: c_uint);
    cuStreamCreateWithPriority  5050  required own (stream: *mut CUstream, flags: c_uint, priority: c_int);
    cuStreamDestroy             4000  required any (stream: CUstream);
    cuStreamSynchronize         2000  required any (stream: CUstream);
    cuStreamQuery               2000  required any (stream: CUstream);
    cuStreamWaitEvent           3020  required any (stream: CUstream, event: CUevent, flags: c_uint);
    cuThreadExchangeStreamCaptureMode 10010 required any (mode: *mut CUstreamCaptureMode);
    cuEventCreate               2000  required own (event: *mut CUevent, flags: c_uint);
    cuEventDestroy              4000  required any (event: CUevent);
    cuEventRecord               2000  required any (event: CUevent, stream: CUstream);
    cuEventQuery                2000  required any (event: CUevent);
    cuEventSynchronize          2000  required any (event: CUevent);
    cuEventElapsedTime          2000  required any (milliseconds: *mut f32, start: CUevent, end: CUevent);
    cuLaunchHostFunc            10000 required any (stream: CUstream, function: CUhostFn, user_data: *mut c_void);
    // kernels
    cuModuleLoadDataEx          2010  required own (module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void);
    cuLinkCreate                6050  required own (count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void, state: *mut CUlinkState);
    cuLinkAddData               6050  required any (state: CUlinkState, kind: CUjitInputType, data: *mut c_void, bytes: usize, name: *const c_char, count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void);
    cuLinkComplete              5050  required any (state: CUlinkState, cubin: *mut *mut c_void, bytes: *mut usize);
    cuLinkDestroy               5050  required any (state: CUlinkState);
    cuModuleUnload              2000  required any (module: CUmodule);
    cuModuleGetFunction         2000  required any (function: *mut CUfunction, module: CUmodule, name: *const c_char);
    cuModuleGetGlobal           3020  required any (address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
    cuFuncGetAttribute          2020  required any (value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
    cuFuncGetParamInfo          12040 optional any (function: CUfunction, index: usize, offset: *mut usize, size: *mut usize);
    cuFuncGetParamCount         13020 optional any (function: CUfunction, count: *mut usize);
    cuFuncSetAttribute          9000  required any (function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    cuFuncSetCacheConfig        3000  required any (function: CUfunction, preference: CUfunc_cache);
    cuOccupancyMaxActiveBlocksPerMultiprocessor 6050 required own (blocks: *mut c_int, function: CUfunction, threads: c_int, shared_bytes: usize);
    cuOccupancyMaxPotentialClusterSize 11070 required own (blocks: *mut c_int, function: CUfunction, config: *const CUlaunchConfig);
    cuOccupancyMaxActiveClusters 11070 required own (clusters: *mut c_int, function: CUfunction, config: *const CUlaunchConfig);
    cuLaunchKernelEx            11060 required any (config: *const CUlaunchConfig, function: CUfunction, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    // graphs
    cuGraphCreate               10000 required any (graph: *mut CUgraph, flags: c_uint);
    cuGraphDestroy              10000 required any (graph: CUgraph);
    cuGraphAddKernelNode        12000 required own (node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, parameters: *const CUDA_KERNEL_NODE_PARAMS);
    cuGraphAddMemcpyNode        10000 required any (node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, copy: *const CUDA_MEMCPY3D, context: CUcontext);
    cuGraphAddMemsetNode        10000 required any (node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, parameters: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext);
    cuGraphAddEmptyNode         10000 required any (node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize);
    cuGraphInstantiateWithFlags 11040 required own (exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    cuGraphExecDestroy          10000 required any (exec: CUgraphExec);
    cuGraphUpload               11010 required own (exec: CUgraphExec, stream: CUstream);
    cuGraphLaunch               10000 required own (exec: CUgraphExec, stream: CUstream);
    cuGraphExecKernelNodeSetParams 12000 required own (exec: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_KERNEL_NODE_PARAMS);
    cuGraphNodeSetEnabled       11060 required any (exec: CUgraphExec, node: CUgraphNode, is_enabled: c_uint);
    cuGraphNodeGetEnabled       11060 required any (exec: CUgraphExec, node: CUgraphNode, is_enabled: *mut c_uint);
}
