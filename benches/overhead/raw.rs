//! What the benchmark uses of the driver beside the crate.

#![allow(unsafe_code)] // calls the driver

use scoped_cuda::Driver;
use scoped_cuda::Result;
use scoped_cuda::ffi::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
    CUdevice, CUdeviceptr, CUfunction, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUresult,
    CUstream, Symbols,
};
use std::ffi::{c_uint, c_void};
use std::{mem, ptr};

/// A raw call may not fail here: what it takes to fail is no part of the comparison.
#[inline]
#[track_caller]
pub(crate) fn succeed(code: CUresult) -> Result<()> {
    assert!(
        code == CUresult::SUCCESS,
        "a raw driver call returned {}",
        code.0
    );
    Ok(())
}

/// The address of an entry point that the crate does not use.
fn address(driver: Driver, name: &str, version: i32) -> *const c_void {
    let address = driver.symbol(name, version);
    assert!(!address.is_null(), "the driver has no {name}");
    address
}

/// `cuLaunchKernel`, which programs call when they want nothing special.
pub(crate) type LaunchKernel = unsafe extern "C" fn(
    CUfunction,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    CUstream,
    *mut *mut c_void,
    *mut *mut c_void,
) -> CUresult;

pub(crate) fn launch_kernel(driver: Driver) -> LaunchKernel {
    let address = address(driver, "cuLaunchKernel", 4000);
    // SAFETY: cuda.h declares it so since CUDA 4.0; the address is not null.
    unsafe { mem::transmute::<*const c_void, LaunchKernel>(address) }
}

/// `cuMemAlloc` and `cuMemFree`: memory as it was before there were pools.
pub(crate) struct OldAllocator {
    pub(crate) allocate: unsafe extern "C" fn(*mut CUdeviceptr, usize) -> CUresult,
    pub(crate) free: unsafe extern "C" fn(CUdeviceptr) -> CUresult,
}

impl OldAllocator {
    pub(crate) fn of(driver: Driver) -> Self {
        let (allocate, free) = (
            address(driver, "cuMemAlloc", 3020),
            address(driver, "cuMemFree", 3020),
        );
        // SAFETY: cuda.h declares `cuMemAlloc` so since CUDA 3.2; the address is not null.
        let allocate = unsafe {
            mem::transmute::<*const c_void, unsafe extern "C" fn(*mut u64, usize) -> CUresult>(
                allocate,
            )
        };
        // SAFETY: the same of `cuMemFree`.
        let free =
            unsafe { mem::transmute::<*const c_void, unsafe extern "C" fn(u64) -> CUresult>(free) };
        Self { allocate, free }
    }
}

/// A memory pool like the crate's: it keeps what is freed.
pub(crate) struct RawPool {
    symbols: &'static Symbols,
    pub(crate) raw: CUmemoryPool,
}

impl RawPool {
    pub(crate) fn new(symbols: &'static Symbols, device: CUdevice) -> Result<Self> {
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
        let (mut raw, mut threshold) = (CUmemoryPool::NULL, u64::MAX);
        // SAFETY: the pointers are valid for the call.
        succeed(unsafe { (symbols.cuMemPoolCreate)(&raw mut raw, &raw const properties) })?;
        let value = (&raw mut threshold).cast();
        // SAFETY: the pool is live, the attribute a 64-bit number.
        succeed(unsafe {
            (symbols.cuMemPoolSetAttribute)(raw, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value)
        })?;
        Ok(Self { symbols, raw })
    }
}

impl Drop for RawPool {
    fn drop(&mut self) {
        // SAFETY: live; everything allocated from it was freed.
        let _ = unsafe { (self.symbols.cuMemPoolDestroy)(self.raw) };
    }
}
