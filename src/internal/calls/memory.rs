//! Memory: pools, copies and fills.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::c_void;
use std::{mem, ptr};

pub(crate) fn mem_pool_create(driver: Api, device: CUdevice) -> Result<CUmemoryPool> {
    let _relaxed = driver.relaxed();
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
        // SAFETY: the properties are complete and the driver checks them; the pointers are valid
        // for the call.
        unsafe { (s.cuMemPoolCreate)(&raw mut pool, &raw const properties) }
    })?;
    Ok(pool)
}

/// # Safety
/// `pool` is live and not used afterwards.
pub(crate) unsafe fn mem_pool_destroy(driver: Api, pool: CUmemoryPool) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `pool` is live and not used afterwards.
    driver.call("cuMemPoolDestroy", |s| unsafe {
        (s.cuMemPoolDestroy)(pool)
    })
}

/// Keeps up to `bytes` at a synchronise instead of giving them back.
///
/// # Safety
/// `pool` is live.
pub(crate) unsafe fn mem_pool_set_release_threshold(
    driver: Api,
    pool: CUmemoryPool,
    mut bytes: u64,
) -> Result<()> {
    let _relaxed = driver.relaxed();
    driver.call("cuMemPoolSetAttribute", |s| {
        // SAFETY: the caller promises: `pool` is live; this attribute is a 64-bit number and the
        // pointer is valid for the call.
        unsafe {
            (s.cuMemPoolSetAttribute)(
                pool,
                CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut bytes).cast(),
            )
        }
    })
}

/// One of the counters of a pool, in bytes.
///
/// # Safety
/// `pool` is live; `attribute` is one of `CU_MEMPOOL_ATTR_RESERVED_MEM_*` and
/// `CU_MEMPOOL_ATTR_USED_MEM_*`.
pub(crate) unsafe fn mem_pool_get_bytes(
    driver: Api,
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
) -> Result<u64> {
    let _relaxed = driver.relaxed();
    let mut bytes = 0_u64;
    driver.call("cuMemPoolGetAttribute", |s| {
        // SAFETY: the caller promises: `pool` is live; `attribute` is one of
        // `CU_MEMPOOL_ATTR_RESERVED_MEM_*` and `CU_MEMPOOL_ATTR_USED_MEM_*`; these attributes are
        // 64-bit numbers and the pointer is valid for the call.
        unsafe { (s.cuMemPoolGetAttribute)(pool, attribute, (&raw mut bytes).cast()) }
    })?;
    Ok(bytes)
}

/// Gives back to the device what the pool holds and nobody uses, down to `keep` bytes.
///
/// # Safety
/// `pool` is live.
pub(crate) unsafe fn mem_pool_trim_to(driver: Api, pool: CUmemoryPool, keep: usize) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `pool` is live.
    driver.call("cuMemPoolTrimTo", |s| unsafe {
        (s.cuMemPoolTrimTo)(pool, keep)
    })
}

/// Lets `device` read and write the pool's memory.
///
/// # Safety
/// `pool` is live.
pub(crate) unsafe fn mem_pool_set_access(
    driver: Api,
    pool: CUmemoryPool,
    device: CUdevice,
) -> Result<()> {
    let _relaxed = driver.relaxed();
    let access = CUmemAccessDesc {
        location: CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device,
        },
        flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    driver.call("cuMemPoolSetAccess", |s| {
        // SAFETY: the caller promises: `pool` is live; one description is passed and counted.
        unsafe { (s.cuMemPoolSetAccess)(pool, &raw const access, 1) }
    })
}

/// # Safety
/// `pool` and `stream` are live and belong to one device. The memory may be used on `stream`, and
/// elsewhere once that is ordered after this call.
#[inline]
pub(crate) unsafe fn mem_alloc_from_pool_async(
    driver: Api,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Result<CUdeviceptr> {
    let _relaxed = driver.relaxed();
    let mut address = 0;
    driver.call("cuMemAllocFromPoolAsync", |s| {
        // SAFETY: the caller promises: `pool` and `stream` are live and belong to one device. The
        // memory may be used on `stream`, and elsewhere once that is ordered after this call; the
        // out-pointer is valid for the call.
        unsafe { (s.cuMemAllocFromPoolAsync)(&raw mut address, bytes, pool, stream) }
    })?;
    Ok(address)
}

/// # Safety
/// `address` is the start of a live allocation, `stream` is live, and every use of the memory is
/// ordered before this point of it.
#[inline]
pub(crate) unsafe fn mem_free_async(
    driver: Api,
    address: CUdeviceptr,
    stream: CUstream,
) -> Result<()> {
    let _relaxed = driver.relaxed();
    // SAFETY: the caller promises: `address` is the start of a live allocation, `stream` is live,
    // and every use of the memory is ordered before this point of it.
    driver.call("cuMemFreeAsync", |s| unsafe {
        (s.cuMemFreeAsync)(address, stream)
    })
}

/// # Safety
/// `to` has room for `bytes`, `from` holds `bytes`, both stay so and `from` unchanged until
/// `stream` has passed this point; `stream` is live and nothing else touches `to` in the meantime.
#[inline]
pub(crate) unsafe fn memcpy_htod_async(
    driver: Api,
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: what `memcpy_htod_async` asks of its caller.
    driver.call("cuMemcpyHtoDAsync", |s| unsafe {
        (s.cuMemcpyHtoDAsync)(to, from, bytes, stream)
    })
}

/// # Safety
/// As [`memcpy_htod_async`], the other way round.
#[inline]
pub(crate) unsafe fn memcpy_dtoh_async(
    driver: Api,
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memcpy_htod_async` asks for, the other way round.
    driver.call("cuMemcpyDtoHAsync", |s| unsafe {
        (s.cuMemcpyDtoHAsync)(to, from, bytes, stream)
    })
}

/// # Safety
/// As [`memcpy_htod_async`], both sides in memory of the stream's device and not overlapping.
#[inline]
pub(crate) unsafe fn memcpy_dtod_async(
    driver: Api,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memcpy_htod_async` asks for, both sides in memory of the
    // stream's device and not overlapping.
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
    driver: Api,
    to: PeerAddress,
    from: PeerAddress,
    bytes: usize,
    stream: CUstream,
) -> Result<()> {
    driver.call("cuMemcpyPeerAsync", |s| {
        // SAFETY: the caller promises what `memcpy_htod_async` asks for; each context is live and
        // the one whose device has the memory.
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
/// `to` has room for `count` bytes until `stream`, which is live, has passed this point, and
/// nothing else touches them.
#[inline]
pub(crate) unsafe fn memset_d8_async(
    driver: Api,
    to: CUdeviceptr,
    value: u8,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises: `to` has room for `count` bytes until `stream`, which is live,
    // has passed this point, and nothing else touches them.
    driver.call("cuMemsetD8Async", |s| unsafe {
        (s.cuMemsetD8Async)(to, value, count, stream)
    })
}

/// # Safety
/// As [`memset_d8_async`], for `count` elements of 2 bytes; `to` is aligned to 2.
#[inline]
pub(crate) unsafe fn memset_d16_async(
    driver: Api,
    to: CUdeviceptr,
    value: u16,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memset_d8_async` asks for, for `count` elements of 2 bytes;
    // `to` is aligned to 2.
    driver.call("cuMemsetD16Async", |s| unsafe {
        (s.cuMemsetD16Async)(to, value, count, stream)
    })
}

/// # Safety
/// As [`memset_d8_async`], for `count` elements of 4 bytes; `to` is aligned to 4.
#[inline]
pub(crate) unsafe fn memset_d32_async(
    driver: Api,
    to: CUdeviceptr,
    value: u32,
    count: usize,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memset_d8_async` asks for, for `count` elements of 4 bytes;
    // `to` is aligned to 4.
    driver.call("cuMemsetD32Async", |s| unsafe {
        (s.cuMemsetD32Async)(to, value, count, stream)
    })
}

const _: () = assert!(
    mem::size_of::<CUdeviceptr>() == 8,
    "device addresses are 64-bit"
);
