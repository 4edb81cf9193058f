//! The types of `cuda.h` that the symbol table mentions, under their C names.
//!
//! Each was written by hand and is compared with the header by `tests/abi.rs`: sizes, alignments,
//! offsets and values.

#![allow(unsafe_code)] // Send and Sync of driver handles, stated once for all of them

use std::ffi::{c_int, c_uint, c_ushort, c_void};

/// A driver result code. A newtype, not an enum: a code that this crate has never heard of is an
/// ordinary value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct CUresult(pub c_uint);

/// A device, as `cuDeviceGet` gives it.
pub type CUdevice = c_int;
/// An address in device memory.
pub type CUdeviceptr = u64;
/// Which attribute `cuDeviceGetAttribute` is asked for.
pub type CUdevice_attribute = c_uint;
/// Which attribute `cuDeviceGetP2PAttribute` is asked for.
pub type CUdevice_P2PAttribute = c_uint;
/// Which attribute `cuFuncGetAttribute` is asked for.
pub type CUfunction_attribute = c_uint;
/// What `cuFuncSetCacheConfig` is told.
pub type CUfunc_cache = c_uint;
/// Which attribute of a launch a [`CUlaunchAttribute`] is.
pub type CUlaunchAttributeID = c_uint;
/// Which attribute `cuMemPoolSetAttribute` and `cuMemPoolGetAttribute` mean.
pub type CUmemPool_attribute = c_uint;
/// How a thread's calls and stream captures keep out of each other's way.
pub type CUstreamCaptureMode = c_uint;
/// What `cuMemAdvise` is told.
pub type CUmem_advise = c_uint;
/// Which kind of memory a strided copy means: `CU_MEMORYTYPE_*`.
pub type CUmemorytype = c_uint;
/// An option of `cuModuleLoadDataEx` and `cuLinkCreate`.
pub type CUjit_option = c_uint;
/// What kind of input `cuLinkAddData` is given: `CU_JIT_INPUT_*`.
pub type CUjitInputType = c_uint;
/// What `cuGetProcAddress_v2` found.
pub type CUdriverProcAddressQueryResult = c_uint;
/// A host function as `cuLaunchHostFunc` calls it.
pub type CUhostFn = unsafe extern "C" fn(user_data: *mut c_void);

/// Declares opaque driver handles.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub(crate) *mut c_void);

        impl $name {
            /// The null handle.
            pub const NULL: Self = Self(std::ptr::null_mut());

            /// The handle as a pointer that means something to the driver only.
            #[must_use]
            pub const fn as_ptr(self) -> *mut c_void {
                self.0
            }

            /// A handle from elsewhere. Making one is safe; handing it to a driver call is not.
            #[must_use]
            pub const fn from_ptr(pointer: *mut c_void) -> Self {
                Self(pointer)
            }
        }

        // SAFETY: a handle is a name that this crate never dereferences; the driver API may be
        // called with it from any thread (CUDA C++ Programming Guide, "the driver API is
        // thread-safe").
        unsafe impl Send for $name {}
        // SAFETY: as for Send.
        unsafe impl Sync for $name {}
    )*};
}

handles! {
    /// A context.
    CUcontext;
    /// A stream.
    CUstream;
    /// An event.
    CUevent;
    /// A loaded module.
    CUmodule;
    /// A kernel of a module.
    CUfunction;
    /// A memory pool.
    CUmemoryPool;
    /// A linker with its inputs.
    CUlinkState;
    /// An array in the layout of textures. The crate passes none.
    CUarray;
    /// A kernel of a library. The crate passes none.
    CUkernel;
    /// A graph: nodes and the edges between them.
    CUgraph;
    /// A node of a graph.
    CUgraphNode;
    /// A graph that can be launched.
    CUgraphExec;
}

/// 16 bytes that identify a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct CUuuid {
    /// The bytes in their printed order.
    pub bytes: [u8; 16],
}

/// Where memory lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CUmemLocation {
    /// `CU_MEM_LOCATION_TYPE_*`.
    pub type_: c_uint,
    /// The device, for [`CU_MEM_LOCATION_TYPE_DEVICE`].
    pub id: c_int,
}

/// How a memory pool is made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemPoolProps {
    /// `CU_MEM_ALLOCATION_TYPE_*`.
    pub allocType: c_uint,
    /// Exportable handle types; none here.
    pub handleTypes: c_uint,
    /// Where the pool's memory lives.
    pub location: CUmemLocation,
    /// Windows only; null.
    pub win32SecurityAttributes: *mut c_void,
    /// Largest size in bytes; 0 leaves it to the driver. Drivers before CUDA 12.2 read it as
    /// reserved, zero.
    pub maxSize: usize,
    /// Intended usage; 0.
    pub usage: c_ushort,
    /// Must be zero. (CUDA 13.5 gives its first byte a name and a meaning, for which 0 stands for
    /// no.)
    pub reserved: [u8; 54],
}

/// Who may access a pool's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CUmemAccessDesc {
    /// The accessing device.
    pub location: CUmemLocation,
    /// `CU_MEM_ACCESS_FLAGS_*`.
    pub flags: c_uint,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchConfig {
    /// Blocks along x.
    pub gridDimX: c_uint,
    /// Blocks along y.
    pub gridDimY: c_uint,
    /// Blocks along z.
    pub gridDimZ: c_uint,
    /// Threads of a block along x.
    pub blockDimX: c_uint,
    /// Threads of a block along y.
    pub blockDimY: c_uint,
    /// Threads of a block along z.
    pub blockDimZ: c_uint,
    /// Dynamic shared memory of a block in bytes.
    pub sharedMemBytes: c_uint,
    /// The stream.
    pub hStream: CUstream,
    /// The attributes; may be null when there are none.
    pub attrs: *mut CUlaunchAttribute,
    /// How many attributes there are.
    pub numAttrs: c_uint,
}

/// An attribute of a launch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_*`.
    pub id: CUlaunchAttributeID,
    /// Nothing.
    pub pad: [u8; 4],
    /// Its value.
    pub value: CUlaunchAttributeValue,
}

/// The value of an attribute of a launch: a union in C, whose members that this crate uses are one
/// to three 32-bit integers at its beginning.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct CUlaunchAttributeValue {
    /// The integers; the rest is zero.
    pub pad: [c_uint; 16],
}

/// A copy of rows that lie a pitch apart.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY2D {
    /// First byte in each row of the source.
    pub srcXInBytes: usize,
    /// First row of the source.
    pub srcY: usize,
    /// `CU_MEMORYTYPE_*`.
    pub srcMemoryType: CUmemorytype,
    /// The source, for [`CU_MEMORYTYPE_HOST`].
    pub srcHost: *const c_void,
    /// The source, for [`CU_MEMORYTYPE_DEVICE`].
    pub srcDevice: CUdeviceptr,
    /// The source, for arrays.
    pub srcArray: CUarray,
    /// Bytes from one row of the source to the next.
    pub srcPitch: usize,
    /// First byte in each row of the destination.
    pub dstXInBytes: usize,
    /// First row of the destination.
    pub dstY: usize,
    /// `CU_MEMORYTYPE_*`.
    pub dstMemoryType: CUmemorytype,
    /// The destination, for [`CU_MEMORYTYPE_HOST`].
    pub dstHost: *mut c_void,
    /// The destination, for [`CU_MEMORYTYPE_DEVICE`].
    pub dstDevice: CUdeviceptr,
    /// The destination, for arrays.
    pub dstArray: CUarray,
    /// Bytes from one row of the destination to the next.
    pub dstPitch: usize,
    /// Bytes of a row that are copied.
    pub WidthInBytes: usize,
    /// Rows that are copied.
    pub Height: usize,
}

/// A copy of slices of rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY3D {
    /// First byte in each row of the source.
    pub srcXInBytes: usize,
    /// First row in each slice of the source.
    pub srcY: usize,
    /// First slice of the source.
    pub srcZ: usize,
    /// Level of detail; 0.
    pub srcLOD: usize,
    /// `CU_MEMORYTYPE_*`.
    pub srcMemoryType: CUmemorytype,
    /// The source, for [`CU_MEMORYTYPE_HOST`].
    pub srcHost: *const c_void,
    /// The source, for [`CU_MEMORYTYPE_DEVICE`].
    pub srcDevice: CUdeviceptr,
    /// The source, for arrays.
    pub srcArray: CUarray,
    /// Null.
    pub reserved0: *mut c_void,
    /// Bytes from one row of the source to the next.
    pub srcPitch: usize,
    /// Rows from one slice of the source to the next.
    pub srcHeight: usize,
    /// First byte in each row of the destination.
    pub dstXInBytes: usize,
    /// First row in each slice of the destination.
    pub dstY: usize,
    /// First slice of the destination.
    pub dstZ: usize,
    /// Level of detail; 0.
    pub dstLOD: usize,
    /// `CU_MEMORYTYPE_*`.
    pub dstMemoryType: CUmemorytype,
    /// The destination, for [`CU_MEMORYTYPE_HOST`].
    pub dstHost: *mut c_void,
    /// The destination, for [`CU_MEMORYTYPE_DEVICE`].
    pub dstDevice: CUdeviceptr,
    /// The destination, for arrays.
    pub dstArray: CUarray,
    /// Null.
    pub reserved1: *mut c_void,
    /// Bytes from one row of the destination to the next.
    pub dstPitch: usize,
    /// Rows from one slice of the destination to the next.
    pub dstHeight: usize,
    /// Bytes of a row that are copied.
    pub WidthInBytes: usize,
    /// Rows of a slice that are copied.
    pub Height: usize,
    /// Slices that are copied.
    pub Depth: usize,
}

/// A copy of slices of rows between two contexts.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY3D_PEER {
    /// First byte in each row of the source.
    pub srcXInBytes: usize,
    /// First row in each slice of the source.
    pub srcY: usize,
    /// First slice of the source.
    pub srcZ: usize,
    /// Level of detail; 0.
    pub srcLOD: usize,
    /// `CU_MEMORYTYPE_*`.
    pub srcMemoryType: CUmemorytype,
    /// The source, for [`CU_MEMORYTYPE_HOST`].
    pub srcHost: *const c_void,
    /// The source, for [`CU_MEMORYTYPE_DEVICE`].
    pub srcDevice: CUdeviceptr,
    /// The source, for arrays.
    pub srcArray: CUarray,
    /// The context whose device has the source.
    pub srcContext: CUcontext,
    /// Bytes from one row of the source to the next.
    pub srcPitch: usize,
    /// Rows from one slice of the source to the next.
    pub srcHeight: usize,
    /// First byte in each row of the destination.
    pub dstXInBytes: usize,
    /// First row in each slice of the destination.
    pub dstY: usize,
    /// First slice of the destination.
    pub dstZ: usize,
    /// Level of detail; 0.
    pub dstLOD: usize,
    /// `CU_MEMORYTYPE_*`.
    pub dstMemoryType: CUmemorytype,
    /// The destination, for [`CU_MEMORYTYPE_HOST`].
    pub dstHost: *mut c_void,
    /// The destination, for [`CU_MEMORYTYPE_DEVICE`].
    pub dstDevice: CUdeviceptr,
    /// The destination, for arrays.
    pub dstArray: CUarray,
    /// The context whose device has the destination.
    pub dstContext: CUcontext,
    /// Bytes from one row of the destination to the next.
    pub dstPitch: usize,
    /// Rows from one slice of the destination to the next.
    pub dstHeight: usize,
    /// Bytes of a row that are copied.
    pub WidthInBytes: usize,
    /// Rows of a slice that are copied.
    pub Height: usize,
    /// Slices that are copied.
    pub Depth: usize,
}

/// What a kernel node runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    /// The kernel.
    pub func: CUfunction,
    /// Blocks along x.
    pub gridDimX: c_uint,
    /// Blocks along y.
    pub gridDimY: c_uint,
    /// Blocks along z.
    pub gridDimZ: c_uint,
    /// Threads of a block along x.
    pub blockDimX: c_uint,
    /// Threads of a block along y.
    pub blockDimY: c_uint,
    /// Threads of a block along z.
    pub blockDimZ: c_uint,
    /// Dynamic shared memory of a block in bytes.
    pub sharedMemBytes: c_uint,
    /// A pointer to a value for each parameter. The driver copies the values when the node is added
    /// or changed.
    pub kernelParams: *mut *mut c_void,
    /// Null.
    pub extra: *mut *mut c_void,
    /// Null; only without `func` does it say the kernel.
    pub kern: CUkernel,
    /// Null, for the context that is current.
    pub ctx: CUcontext,
}

/// What a memset node sets.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    /// The first byte.
    pub dst: CUdeviceptr,
    /// Bytes from one row to the next; of no meaning for a single row.
    pub pitch: usize,
    /// The element's bits.
    pub value: c_uint,
    /// Bytes of an element: 1, 2 or 4.
    pub elementSize: c_uint,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// `CUmemorytype`: host memory.
pub const CU_MEMORYTYPE_HOST: CUmemorytype = 1;
/// `CUmemorytype`: device memory.
pub const CU_MEMORYTYPE_DEVICE: CUmemorytype = 2;
/// `CUmemAllocationType`: ordinary device memory.
pub const CU_MEM_ALLOCATION_TYPE_PINNED: c_uint = 1;
/// `CUmemLocationType`: a device ordinal follows.
pub const CU_MEM_LOCATION_TYPE_DEVICE: c_uint = 1;
/// `CUmemAccess_flags`: read and write.
pub const CU_MEM_ACCESS_FLAGS_PROT_READWRITE: c_uint = 3;
/// `CUmemPool_attribute`: bytes kept at a synchronise instead of being given back.
pub const CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: CUmemPool_attribute = 4;
/// `CUmemPool_attribute`: bytes of device memory that the pool has.
pub const CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: CUmemPool_attribute = 5;
/// `CUmemPool_attribute`: the most bytes that the pool has had.
pub const CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: CUmemPool_attribute = 6;
/// `CUmemPool_attribute`: bytes that are allocated from the pool.
pub const CU_MEMPOOL_ATTR_USED_MEM_CURRENT: CUmemPool_attribute = 7;
/// `CUmemPool_attribute`: the most bytes that were allocated from the pool.
pub const CU_MEMPOOL_ATTR_USED_MEM_HIGH: CUmemPool_attribute = 8;
/// `cuMemHostAlloc`: page-locked for every context, not only for the one that is current.
pub const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// `cuMemHostAlloc`: kernels may touch the memory too.
pub const CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
/// `cuMemHostAlloc`: the host does not cache the memory: it writes it faster for the device, and
/// reads it very slowly.
pub const CU_MEMHOSTALLOC_WRITECOMBINED: c_uint = 4;
/// `cuMemHostRegister`: page-locked for every context, not only for the one that is current.
pub const CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1;
/// `CUmemAttach_flags`: every stream of every device may touch the managed memory.
pub const CU_MEM_ATTACH_GLOBAL: c_uint = 1;
/// `CUmem_advise`: mostly read, so that each processor may have a copy.
pub const CU_MEM_ADVISE_SET_READ_MOSTLY: CUmem_advise = 1;
/// `CUmem_advise`: the opposite.
pub const CU_MEM_ADVISE_UNSET_READ_MOSTLY: CUmem_advise = 2;
/// `CUmem_advise`: stays with a processor, as far as possible.
pub const CU_MEM_ADVISE_SET_PREFERRED_LOCATION: CUmem_advise = 3;
/// `CUmem_advise`: the opposite.
pub const CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: CUmem_advise = 4;
/// `CUmem_advise`: a processor will use it, and is to have it mapped.
pub const CU_MEM_ADVISE_SET_ACCESSED_BY: CUmem_advise = 5;
/// `CUmem_advise`: the opposite.
pub const CU_MEM_ADVISE_UNSET_ACCESSED_BY: CUmem_advise = 6;
/// `CUstreamCaptureMode`: a capture is broken by what any thread calls that it cannot hold.
pub const CU_STREAM_CAPTURE_MODE_GLOBAL: CUstreamCaptureMode = 0;
/// `CUstreamCaptureMode`: a capture is broken by such calls of its own thread alone.
pub const CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: CUstreamCaptureMode = 1;
/// `CUstreamCaptureMode`: the calls of the thread break no capture, and are not refused for one.
pub const CU_STREAM_CAPTURE_MODE_RELAXED: CUstreamCaptureMode = 2;
/// `CUstream_flags`: does not synchronise with the NULL stream.
pub const CU_STREAM_NON_BLOCKING: c_uint = 1;
/// `CUevent_flags`: a time is recorded.
pub const CU_EVENT_DEFAULT: c_uint = 0;
/// `CUevent_flags`: no time is recorded, so recording is cheaper.
pub const CU_EVENT_DISABLE_TIMING: c_uint = 2;
/// [`CUdevice_P2PAttribute`]: how good the link between two devices is, lower is better.
pub const CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: CUdevice_P2PAttribute = 1;
/// [`CUdevice_P2PAttribute`]: whether the first can access the memory of the second.
pub const CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED: CUdevice_P2PAttribute = 2;
/// [`CUdevice_P2PAttribute`]: whether all atomic operations work over the link.
pub const CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: CUdevice_P2PAttribute = 3;
/// `CUfunction_attribute`: the most threads a block of this function may have.
pub const CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: CUfunction_attribute = 0;
/// `CUfunction_attribute`: static shared memory of a block in bytes.
pub const CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: CUfunction_attribute = 1;
/// `CUfunction_attribute`: constant memory of the function in bytes.
pub const CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: CUfunction_attribute = 2;
/// `CUfunction_attribute`: local memory of a thread in bytes.
pub const CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: CUfunction_attribute = 3;
/// `CUfunction_attribute`: registers of a thread.
pub const CU_FUNC_ATTRIBUTE_NUM_REGS: CUfunction_attribute = 4;
/// `CUfunction_attribute`: the virtual architecture it was compiled for, 10 times major plus minor.
pub const CU_FUNC_ATTRIBUTE_PTX_VERSION: CUfunction_attribute = 5;
/// `CUfunction_attribute`: the architecture of its machine code, 10 times major plus minor.
pub const CU_FUNC_ATTRIBUTE_BINARY_VERSION: CUfunction_attribute = 6;
/// `CUfunction_attribute`: the most dynamic shared memory that a launch may ask for, in bytes.
pub const CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: CUfunction_attribute = 8;
/// `CUfunction_attribute`: the part of a multiprocessor's memory that is to be shared memory, in
/// per cent; -1 for the driver's choice.
pub const CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: CUfunction_attribute = 9;
/// `CUfunction_attribute`: whether every launch has to say its clusters.
pub const CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: CUfunction_attribute = 10;
/// `CUfunction_attribute`: blocks of a cluster along x, when the function was compiled for that.
pub const CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: CUfunction_attribute = 11;
/// `CUfunction_attribute`: blocks of a cluster along y, when the function was compiled for that.
pub const CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: CUfunction_attribute = 12;
/// `CUfunction_attribute`: blocks of a cluster along z, when the function was compiled for that.
pub const CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: CUfunction_attribute = 13;
/// `CUfunction_attribute`: whether clusters may have more blocks than every device supports.
pub const CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: CUfunction_attribute = 14;
/// [`CUfunc_cache`]: no preference.
pub const CU_FUNC_CACHE_PREFER_NONE: CUfunc_cache = 0;
/// [`CUfunc_cache`]: more shared memory, less cache.
pub const CU_FUNC_CACHE_PREFER_SHARED: CUfunc_cache = 1;
/// [`CUfunc_cache`]: more cache, less shared memory.
pub const CU_FUNC_CACHE_PREFER_L1: CUfunc_cache = 2;
/// [`CUfunc_cache`]: as much of the one as of the other.
pub const CU_FUNC_CACHE_PREFER_EQUAL: CUfunc_cache = 3;
/// [`CUlaunchAttributeID`]: nothing; for an entry that is not used.
pub const CU_LAUNCH_ATTRIBUTE_IGNORE: CUlaunchAttributeID = 0;
/// [`CUlaunchAttributeID`]: all blocks run at once, and may wait for each other.
pub const CU_LAUNCH_ATTRIBUTE_COOPERATIVE: CUlaunchAttributeID = 2;
/// [`CUlaunchAttributeID`]: blocks of a cluster along x, y and z.
pub const CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: CUlaunchAttributeID = 4;
/// [`CUlaunchAttributeID`]: the launch may begin before the one ahead of it on the stream has
/// ended.
pub const CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: CUlaunchAttributeID = 6;
/// [`CUlaunchAttributeID`]: the priority of the launch.
pub const CU_LAUNCH_ATTRIBUTE_PRIORITY: CUlaunchAttributeID = 8;
/// `CUjit_option`: the most registers that a thread may use.
pub const CU_JIT_MAX_REGISTERS: CUjit_option = 0;
/// `CUjit_option`: threads that a block must be able to have. 0 kills the process (measured).
pub const CU_JIT_THREADS_PER_BLOCK: CUjit_option = 1;
/// `CUjit_option`: the time spent comes back in the value, in milliseconds, as an `f32`.
pub const CU_JIT_WALL_TIME: CUjit_option = 2;
/// `CUjit_option`: where the JIT writes information.
pub const CU_JIT_INFO_LOG_BUFFER: CUjit_option = 3;
/// `CUjit_option`: size of that buffer in bytes.
pub const CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: CUjit_option = 4;
/// `CUjit_option`: where the JIT writes errors.
pub const CU_JIT_ERROR_LOG_BUFFER: CUjit_option = 5;
/// `CUjit_option`: size of that buffer in bytes.
pub const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: CUjit_option = 6;
/// `CUjit_option`: how much to optimise, 0 to 4.
pub const CU_JIT_OPTIMIZATION_LEVEL: CUjit_option = 7;
/// `CUjit_option`: the compute capability to compile for, as `10 * major + minor`.
pub const CU_JIT_TARGET: CUjit_option = 9;
/// `CUjit_option`: whether to add debug information.
pub const CU_JIT_GENERATE_DEBUG_INFO: CUjit_option = 11;
/// `CUjit_option`: whether the information log says much.
pub const CU_JIT_LOG_VERBOSE: CUjit_option = 12;
/// `CUjit_option`: whether to add line numbers.
pub const CU_JIT_GENERATE_LINE_INFO: CUjit_option = 13;
/// `CUjit_option`: how global loads are cached, `CU_JIT_CACHE_OPTION_*`.
pub const CU_JIT_CACHE_MODE: CUjit_option = 14;
/// `CUjit_cacheMode`: in the second level only.
pub const CU_JIT_CACHE_OPTION_CG: c_uint = 1;
/// `CUjit_cacheMode`: in both levels.
pub const CU_JIT_CACHE_OPTION_CA: c_uint = 2;
/// [`CUjitInputType`]: machine code.
pub const CU_JIT_INPUT_CUBIN: CUjitInputType = 0;
/// [`CUjitInputType`]: PTX text.
pub const CU_JIT_INPUT_PTX: CUjitInputType = 1;
/// [`CUjitInputType`]: several of both.
pub const CU_JIT_INPUT_FATBINARY: CUjitInputType = 2;
/// [`CUjitInputType`]: an object file of the host with a fatbin inside.
pub const CU_JIT_INPUT_OBJECT: CUjitInputType = 3;
/// [`CUjitInputType`]: an archive of such objects.
pub const CU_JIT_INPUT_LIBRARY: CUjitInputType = 4;
