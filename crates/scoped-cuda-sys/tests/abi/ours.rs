//! The crate's side of the comparison, and what its sources declare.

use crate::header::{Field, Struct, Type};
use scoped_cuda::ffi::*;
use std::collections::BTreeSet;
use std::convert::identity;
use std::ffi::{c_int, c_uint, c_ushort, c_void};
use std::mem::offset_of;

// The sources, only to see that no name was left out of the lists below.
const TYPES_RS: &str = include_str!("../../src/types.rs");
const RESULTS_RS: &str = include_str!("../../src/results.rs");

// ---- types

pub(crate) fn rust_types() -> Vec<(&'static str, Type)> {
    vec![
        rust_type("size_t", identity::<usize>),
        rust_type("CUresult", |result: CUresult| result.0),
        rust_type("CUdevice", identity::<CUdevice>),
        rust_type("CUdeviceptr", identity::<CUdeviceptr>),
        rust_type("CUdevice_attribute", identity::<CUdevice_attribute>),
        rust_type("CUdevice_P2PAttribute", identity::<CUdevice_P2PAttribute>),
        rust_type("CUfunc_cache", identity::<CUfunc_cache>),
        rust_type("CUlaunchAttributeID", identity::<CUlaunchAttributeID>),
        rust_type("CUfunction_attribute", identity::<CUfunction_attribute>),
        rust_type("CUmemPool_attribute", identity::<CUmemPool_attribute>),
        rust_type("CUmem_advise", identity::<CUmem_advise>),
        rust_type("CUstreamCaptureMode", identity::<CUstreamCaptureMode>),
        rust_type("CUmemorytype", identity::<CUmemorytype>),
        rust_type("CUjit_option", identity::<CUjit_option>),
        rust_type("CUjitInputType", identity::<CUjitInputType>),
        rust_type(
            "CUdriverProcAddressQueryResult",
            identity::<CUdriverProcAddressQueryResult>,
        ),
        rust_type("CUhostFn", identity::<CUhostFn>),
        rust_type("CUcontext", CUcontext::as_ptr),
        rust_type("CUstream", CUstream::as_ptr),
        rust_type("CUevent", CUevent::as_ptr),
        rust_type("CUmodule", CUmodule::as_ptr),
        rust_type("CUfunction", CUfunction::as_ptr),
        rust_type("CUmemoryPool", CUmemoryPool::as_ptr),
        rust_type("CUlinkState", CUlinkState::as_ptr),
        rust_type("CUarray", CUarray::as_ptr),
        rust_type("CUkernel", CUkernel::as_ptr),
        rust_type("CUgraph", CUgraph::as_ptr),
        rust_type("CUgraphNode", CUgraphNode::as_ptr),
        rust_type("CUgraphExec", CUgraphExec::as_ptr),
    ]
}

/// `_inside` is the way from a newtype to the type that says its kind.
pub(crate) fn rust_type<T, Inside: Kind>(
    name: &'static str,
    _inside: fn(T) -> Inside,
) -> (&'static str, Type) {
    (
        name,
        Type {
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind: Inside::KIND,
        },
    )
}

/// What the fixture calls a Rust type's kind: two types of one size still differ in how C reads
/// their bits.
pub(crate) trait Kind {
    const KIND: &'static str;
}

impl Kind for c_int {
    const KIND: &'static str = "signed";
}
impl Kind for c_uint {
    const KIND: &'static str = "unsigned";
}
impl Kind for c_ushort {
    const KIND: &'static str = "unsigned";
}
impl Kind for u64 {
    const KIND: &'static str = "unsigned";
}
impl Kind for usize {
    const KIND: &'static str = "unsigned";
}
impl Kind for *mut c_void {
    const KIND: &'static str = "pointer";
}
impl Kind for *const c_void {
    const KIND: &'static str = "pointer";
}
impl Kind for CUarray {
    const KIND: &'static str = "pointer";
}

impl Kind for CUcontext {
    const KIND: &'static str = "pointer";
}
impl Kind for CUhostFn {
    const KIND: &'static str = "pointer";
}
impl Kind for *mut CUlaunchAttribute {
    const KIND: &'static str = "pointer";
}
impl Kind for CUfunction {
    const KIND: &'static str = "pointer";
}
impl Kind for CUkernel {
    const KIND: &'static str = "pointer";
}
impl Kind for *mut *mut c_void {
    const KIND: &'static str = "pointer";
}
impl Kind for CUstream {
    const KIND: &'static str = "pointer";
}
/// A union, which is of no kind.
impl Kind for CUlaunchAttributeValue {
    const KIND: &'static str = "?";
}
/// The integers of the union overlay its bytes.
impl Kind for [c_uint; 16] {
    const KIND: &'static str = "bytes";
}
impl<const N: usize> Kind for [u8; N] {
    const KIND: &'static str = "bytes";
}
impl Kind for CUmemLocation {
    const KIND: &'static str = "struct";
}

// ---- structs

macro_rules! rust_struct {
    ($struct:ident { $($field:ident: $header_fields:literal),* $(,)? }) => {
        (stringify!($struct), Struct {
            size: size_of::<$struct>(),
            align: align_of::<$struct>(),
            fields: vec![$(rust_field($header_fields, offset_of!($struct, $field), |it: &$struct| &it.$field)),*],
        })
    };
}

pub(crate) fn rust_structs() -> Vec<(&'static str, Struct)> {
    vec![
        rust_struct!(CUuuid { bytes: "bytes" }),
        rust_struct!(CUmemLocation {
            type_: "type",
            id: "id"
        }),
        rust_struct!(CUmemPoolProps {
            allocType: "allocType",
            handleTypes: "handleTypes",
            location: "location",
            win32SecurityAttributes: "win32SecurityAttributes",
            maxSize: "maxSize",
            usage: "usage",
            // A newer header has given the first reserved byte a name; older drivers want it zero.
            reserved: "gpuDirectRDMACapable reserved",
        }),
        rust_struct!(CUmemAccessDesc {
            location: "location",
            flags: "flags"
        }),
        rust_struct!(CUlaunchConfig {
            gridDimX: "gridDimX",
            gridDimY: "gridDimY",
            gridDimZ: "gridDimZ",
            blockDimX: "blockDimX",
            blockDimY: "blockDimY",
            blockDimZ: "blockDimZ",
            sharedMemBytes: "sharedMemBytes",
            hStream: "hStream",
            attrs: "attrs",
            numAttrs: "numAttrs",
        }),
        rust_struct!(CUlaunchAttribute {
            id: "id",
            pad: "pad",
            value: "value",
        }),
        rust_struct!(CUlaunchAttributeValue { pad: "pad" }),
        rust_struct!(CUDA_MEMCPY2D {
            srcXInBytes: "srcXInBytes",
            srcY: "srcY",
            srcMemoryType: "srcMemoryType",
            srcHost: "srcHost",
            srcDevice: "srcDevice",
            srcArray: "srcArray",
            srcPitch: "srcPitch",
            dstXInBytes: "dstXInBytes",
            dstY: "dstY",
            dstMemoryType: "dstMemoryType",
            dstHost: "dstHost",
            dstDevice: "dstDevice",
            dstArray: "dstArray",
            dstPitch: "dstPitch",
            WidthInBytes: "WidthInBytes",
            Height: "Height",
        }),
        rust_struct!(CUDA_MEMCPY3D {
            srcXInBytes: "srcXInBytes",
            srcY: "srcY",
            srcZ: "srcZ",
            srcLOD: "srcLOD",
            srcMemoryType: "srcMemoryType",
            srcHost: "srcHost",
            srcDevice: "srcDevice",
            srcArray: "srcArray",
            reserved0: "reserved0",
            srcPitch: "srcPitch",
            srcHeight: "srcHeight",
            dstXInBytes: "dstXInBytes",
            dstY: "dstY",
            dstZ: "dstZ",
            dstLOD: "dstLOD",
            dstMemoryType: "dstMemoryType",
            dstHost: "dstHost",
            dstDevice: "dstDevice",
            dstArray: "dstArray",
            reserved1: "reserved1",
            dstPitch: "dstPitch",
            dstHeight: "dstHeight",
            WidthInBytes: "WidthInBytes",
            Height: "Height",
            Depth: "Depth",
        }),
        rust_struct!(CUDA_MEMCPY3D_PEER {
            srcXInBytes: "srcXInBytes",
            srcY: "srcY",
            srcZ: "srcZ",
            srcLOD: "srcLOD",
            srcMemoryType: "srcMemoryType",
            srcHost: "srcHost",
            srcDevice: "srcDevice",
            srcArray: "srcArray",
            srcContext: "srcContext",
            srcPitch: "srcPitch",
            srcHeight: "srcHeight",
            dstXInBytes: "dstXInBytes",
            dstY: "dstY",
            dstZ: "dstZ",
            dstLOD: "dstLOD",
            dstMemoryType: "dstMemoryType",
            dstHost: "dstHost",
            dstDevice: "dstDevice",
            dstArray: "dstArray",
            dstContext: "dstContext",
            dstPitch: "dstPitch",
            dstHeight: "dstHeight",
            WidthInBytes: "WidthInBytes",
            Height: "Height",
            Depth: "Depth",
        }),
        rust_struct!(CUDA_KERNEL_NODE_PARAMS {
            func: "func",
            gridDimX: "gridDimX",
            gridDimY: "gridDimY",
            gridDimZ: "gridDimZ",
            blockDimX: "blockDimX",
            blockDimY: "blockDimY",
            blockDimZ: "blockDimZ",
            sharedMemBytes: "sharedMemBytes",
            kernelParams: "kernelParams",
            extra: "extra",
            kern: "kern",
            ctx: "ctx",
        }),
        rust_struct!(CUDA_MEMSET_NODE_PARAMS {
            dst: "dst",
            pitch: "pitch",
            value: "value",
            elementSize: "elementSize",
            width: "width",
            height: "height",
        }),
    ]
}

fn rust_field<T, F: Kind>(name: &'static str, offset: usize, _field: fn(&T) -> &F) -> Field {
    Field {
        name,
        offset,
        size: size_of::<F>(),
        kind: F::KIND,
    }
}

// ---- constants and result codes

pub(crate) fn rust_constants() -> Vec<(&'static str, u32)> {
    macro_rules! constants {
        ($($name:ident),* $(,)?) => { vec![$((stringify!($name), $name)),*] };
    }
    constants![
        CU_MEMORYTYPE_HOST,
        CU_MEMORYTYPE_DEVICE,
        CU_MEM_ALLOCATION_TYPE_PINNED,
        CU_MEM_LOCATION_TYPE_DEVICE,
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
        CU_MEMPOOL_ATTR_USED_MEM_HIGH,
        CU_MEMHOSTALLOC_PORTABLE,
        CU_MEMHOSTALLOC_DEVICEMAP,
        CU_MEMHOSTALLOC_WRITECOMBINED,
        CU_MEMHOSTREGISTER_PORTABLE,
        CU_MEM_ATTACH_GLOBAL,
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
        CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
        CU_MEM_ADVISE_SET_READ_MOSTLY,
        CU_MEM_ADVISE_UNSET_READ_MOSTLY,
        CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
        CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
        CU_MEM_ADVISE_SET_ACCESSED_BY,
        CU_MEM_ADVISE_UNSET_ACCESSED_BY,
        CU_STREAM_CAPTURE_MODE_GLOBAL,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED,
        CU_STREAM_NON_BLOCKING,
        CU_EVENT_DEFAULT,
        CU_EVENT_DISABLE_TIMING,
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_NUM_REGS,
        CU_FUNC_ATTRIBUTE_PTX_VERSION,
        CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        CU_FUNC_CACHE_PREFER_NONE,
        CU_FUNC_CACHE_PREFER_SHARED,
        CU_FUNC_CACHE_PREFER_L1,
        CU_FUNC_CACHE_PREFER_EQUAL,
        CU_LAUNCH_ATTRIBUTE_IGNORE,
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        CU_LAUNCH_ATTRIBUTE_PRIORITY,
        CU_JIT_MAX_REGISTERS,
        CU_JIT_THREADS_PER_BLOCK,
        CU_JIT_WALL_TIME,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_OPTIMIZATION_LEVEL,
        CU_JIT_TARGET,
        CU_JIT_GENERATE_DEBUG_INFO,
        CU_JIT_LOG_VERBOSE,
        CU_JIT_GENERATE_LINE_INFO,
        CU_JIT_CACHE_MODE,
        CU_JIT_CACHE_OPTION_CG,
        CU_JIT_CACHE_OPTION_CA,
        CU_JIT_INPUT_CUBIN,
        CU_JIT_INPUT_PTX,
        CU_JIT_INPUT_FATBINARY,
        CU_JIT_INPUT_OBJECT,
        CU_JIT_INPUT_LIBRARY,
    ]
}

pub(crate) fn rust_results() -> Vec<(&'static str, u32)> {
    macro_rules! errors {
        ($($name:ident),* $(,)?) => { vec![
            ("CUDA_SUCCESS", CUresult::SUCCESS.0),
            $((concat!("CUDA_ERROR_", stringify!($name)), CUresult::$name.0)),*
        ] };
    }
    errors![
        INVALID_VALUE,
        OUT_OF_MEMORY,
        NOT_INITIALIZED,
        DEINITIALIZED,
        NO_DEVICE,
        INVALID_DEVICE,
        INVALID_IMAGE,
        INVALID_CONTEXT,
        NO_BINARY_FOR_GPU,
        ECC_UNCORRECTABLE,
        PEER_ACCESS_UNSUPPORTED,
        INVALID_PTX,
        NVLINK_UNCORRECTABLE,
        UNSUPPORTED_PTX_VERSION,
        CONTAINED,
        INVALID_SOURCE,
        INVALID_HANDLE,
        NOT_FOUND,
        NOT_READY,
        ILLEGAL_ADDRESS,
        LAUNCH_OUT_OF_RESOURCES,
        LAUNCH_TIMEOUT,
        PEER_ACCESS_ALREADY_ENABLED,
        PEER_ACCESS_NOT_ENABLED,
        CONTEXT_IS_DESTROYED,
        COOPERATIVE_LAUNCH_TOO_LARGE,
        STREAM_CAPTURE_UNSUPPORTED,
        STREAM_CAPTURE_INVALIDATED,
        STREAM_CAPTURE_MERGE,
        STREAM_CAPTURE_UNMATCHED,
        STREAM_CAPTURE_UNJOINED,
        STREAM_CAPTURE_ISOLATION,
        STREAM_CAPTURE_IMPLICIT,
        CAPTURED_EVENT,
        STREAM_CAPTURE_WRONG_THREAD,
        INVALID_CLUSTER_SIZE,
        ASSERT,
        HOST_MEMORY_ALREADY_REGISTERED,
        HOST_MEMORY_NOT_REGISTERED,
        HARDWARE_STACK_ERROR,
        ILLEGAL_INSTRUCTION,
        MISALIGNED_ADDRESS,
        INVALID_ADDRESS_SPACE,
        INVALID_PC,
        LAUNCH_FAILED,
        TENSOR_MEMORY_LEAK,
        NOT_PERMITTED,
        NOT_SUPPORTED,
        UNKNOWN,
    ]
}

// ---- what the sources declare

/// The names of the types in `types.rs`.
pub(crate) fn declared_types() -> BTreeSet<String> {
    let aliases = declared(TYPES_RS, "pub type CU", &[' ']);
    let structs = declared(TYPES_RS, "pub struct CU", &[' ', '(']);
    let handles = TYPES_RS
        .lines()
        .filter_map(|line| line.strip_prefix("    CU")?.strip_suffix(';'));
    aliases
        .chain(structs)
        .chain(handles)
        .map(|rest| format!("CU{rest}"))
        .collect()
}

/// The names of the constants in `types.rs`.
pub(crate) fn declared_constants() -> BTreeSet<String> {
    declared(TYPES_RS, "pub const CU_", &[':'])
        .map(|rest| format!("CU_{rest}"))
        .collect()
}

/// The header's names of the result codes in `results.rs`.
pub(crate) fn declared_results() -> BTreeSet<String> {
    let table = RESULTS_RS
        .split_once("\nresults! {\n")
        .map_or("", |(_, table)| table);
    let errors = table
        .lines()
        .filter_map(|line| line.trim().split_once(" = "));
    let errors = errors.map(|(name, _)| format!("CUDA_ERROR_{name}"));
    errors.chain(["CUDA_SUCCESS".to_owned()]).collect()
}

/// The rest of each name that the source declares with `start`, up to one of `ends`.
fn declared<'a>(
    source: &'a str,
    start: &'a str,
    ends: &'a [char],
) -> impl Iterator<Item = &'a str> {
    source
        .lines()
        .filter_map(move |line| line.strip_prefix(start)?.split(ends).next())
}
