//! Memory: pools, allocation, copies, fills.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::context::Current;
use crate::memory::Pool;
use crate::registry::{Handle, Kind, Named};
use crate::work::{HostPointer, Work};
use scoped_cuda_sys::*;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

/// Copies from pageable memory that are larger than this are not asynchronous at all. (Measured: 1
/// MiB returns at once, 16 MiB does not.)
const STAGED_MAX: usize = 1 << 20;

fn stream_handle(stream: CUstream) -> Handle {
    Handle::from_ptr(stream.as_ptr())
}

fn pool_handle(pool: CUmemoryPool) -> Handle {
    Handle::from_ptr(pool.as_ptr())
}

pub(super) unsafe extern "C" fn cuMemGetInfo(free: *mut usize, total: *mut usize) -> CUresult {
    // SAFETY: null or valid for the call.
    let free = unsafe { Out::new(free) };
    // SAFETY: null or valid for the call.
    let total = unsafe { Out::new(total) };
    call("cuMemGetInfo", Named::Current, |_, state| {
        let device = state.device_of(state.current()?);
        let (free, total) = (free?, total?);
        free.set(state.memory - state.devices[device].used)?;
        total.set(state.memory)
    })
}

// Pools.

pub(super) unsafe extern "C" fn cuMemPoolCreate(
    pool: *mut CUmemoryPool,
    properties: *const CUmemPoolProps,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let pool = unsafe { Out::new(pool) };
    // SAFETY: null or valid for the call.
    let properties = unsafe { properties.as_ref() };
    let ordinal = properties.map_or(-1, |properties| properties.location.id);
    call(
        "cuMemPoolCreate",
        Named::Device(ordinal),
        |machine, mut state| {
            let properties = properties.ok_or(CUresult::INVALID_VALUE)?;
            if properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED
                || properties.location.type_ != CU_MEM_LOCATION_TYPE_DEVICE
                || properties.reserved.iter().any(|&byte| byte != 0)
            {
                return Err(CUresult::INVALID_VALUE);
            }
            let device = machine
                .device(ordinal)
                .map_err(|_| CUresult::INVALID_VALUE)?;
            let pool = pool?;
            let made = state.new_handle(Kind::Pool);
            let access = Arc::new(Mutex::new(BTreeSet::from([device])));
            state.pools.insert(
                made,
                Pool {
                    device,
                    access,
                    attributes: [0; 9],
                    usage: Arc::default(),
                },
            );
            pool.set(CUmemoryPool::from_ptr(made.as_ptr()))
        },
    )
}

pub(super) unsafe extern "C" fn cuMemPoolDestroy(pool: CUmemoryPool) -> CUresult {
    let pool = pool_handle(pool);
    call("cuMemPoolDestroy", Named::Handle(pool), |_, mut state| {
        // Its allocations stay usable until they are freed.
        state
            .pools
            .remove(&pool)
            .map(drop)
            .ok_or(CUresult::INVALID_VALUE)
    })
}

pub(super) unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    let pool = pool_handle(pool);
    call(
        "cuMemPoolSetAttribute",
        Named::Handle(pool),
        |_, mut state| {
            let found = state.pools.get_mut(&pool).ok_or(CUresult::INVALID_VALUE)?;
            if value.is_null() {
                return Err(CUresult::INVALID_VALUE);
            }
            let value = match attribute {
                // SAFETY: these attributes are of type `int`, and the caller passes a pointer to
                // one.
                1..=3 => i64::from(unsafe { value.cast::<c_int>().read() }) as u64,
                // SAFETY: these attributes are of type `cuuint64_t`, and the caller passes a
                // pointer to one.
                4 | 6 | 8 => unsafe { value.cast::<u64>().read() },
                _ => return Err(CUresult::INVALID_VALUE),
            };
            let mut usage = found.usage.lock().unwrap_or_else(PoisonError::into_inner);
            match attribute {
                // The high marks can be set to where they are now, which is called 0.
                6 | 8 if value != 0 => return Err(CUresult::INVALID_VALUE),
                6 => usage.reserved_high = usage.reserved,
                8 => usage.used_high = usage.used,
                _ => found.attributes[attribute as usize] = value,
            }
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    let pool = pool_handle(pool);
    call("cuMemPoolGetAttribute", Named::Handle(pool), |_, state| {
        let found = state.pools.get(&pool).ok_or(CUresult::INVALID_HANDLE)?;
        let usage = found.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match attribute {
            1..=4 => found.attributes[attribute as usize],
            5 => usage.reserved as u64,
            6 => usage.reserved_high as u64,
            7 => usage.used as u64,
            8 => usage.used_high as u64,
            _ => return Err(CUresult::INVALID_VALUE),
        };
        if attribute < 4 {
            // SAFETY: these attributes are of type `int`, and the caller passes null or a pointer
            // to one.
            unsafe { Out::new(value.cast::<c_int>()) }?.set(answer as c_int)
        } else {
            // SAFETY: these attributes are of type `cuuint64_t`, and the caller passes null or a
            // pointer to one.
            unsafe { Out::new(value.cast::<u64>()) }?.set(answer)
        }
    })
}

pub(super) unsafe extern "C" fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) -> CUresult {
    let pool = pool_handle(pool);
    call("cuMemPoolTrimTo", Named::Handle(pool), |_, state| {
        let found = state.pools.get(&pool).ok_or(CUresult::INVALID_HANDLE)?;
        let mut usage = found.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.trim(keep);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuMemPoolSetAccess(
    pool: CUmemoryPool,
    access: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    let pool = pool_handle(pool);
    call(
        "cuMemPoolSetAccess",
        Named::Handle(pool),
        |machine, state| {
            let found = state.pool(pool)?;
            if access.is_null() || count == 0 {
                return Err(CUresult::INVALID_VALUE);
            }
            // SAFETY: the caller passes as many descriptions as it counts, valid for the call.
            let wanted = unsafe { slice::from_raw_parts(access, count) };
            let mut devices = found
                .access
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            for description in wanted {
                if description.location.type_ != CU_MEM_LOCATION_TYPE_DEVICE {
                    return Err(CUresult::INVALID_VALUE);
                }
                let device = machine.device(description.location.id)?;
                let is_own = device == found.device;
                match description.flags {
                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE if is_own => {}
                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                        if machine.simulation().peers.allow(device, found.device) =>
                    {
                        devices.insert(device);
                    }
                    0 if !is_own => drop(devices.remove(&device)),
                    0 | CU_MEM_ACCESS_FLAGS_PROT_READWRITE => return Err(CUresult::INVALID_DEVICE),
                    _ => return Err(CUresult::INVALID_VALUE),
                }
            }
            *found.access.lock().unwrap_or_else(PoisonError::into_inner) = devices;
            Ok(())
        },
    )
}

// Allocation.

pub(super) unsafe extern "C" fn cuMemAllocFromPoolAsync(
    address: *mut CUdeviceptr,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let address = unsafe { Out::new(address) };
    let (pool, stream) = (pool_handle(pool), stream_handle(stream));
    call(
        "cuMemAllocFromPoolAsync",
        Named::Handle(stream),
        |machine, mut state| {
            let (stream, address) = (state.stream(stream)?, address?);
            state.pool(pool)?;
            if bytes == 0 {
                return address.set(0);
            }
            let allocated = state.allocate_from(bytes, pool);
            address.set(allocated.as_ref().map_or(0, |allocation| allocation.base))?;
            machine.enqueue(&mut state, stream, Work::Allocate(allocated?))?;
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> CUresult {
    let stream = stream_handle(stream);
    call(
        "cuMemFreeAsync",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            if address == 0 {
                return Ok(());
            }
            let allocation = state.allocation(address)?;
            machine.enqueue(&mut state, stream, Work::Free(Arc::clone(&allocation)))?;
            state.mark_freed(&allocation);
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuMemAlloc(address: *mut CUdeviceptr, bytes: usize) -> CUresult {
    // SAFETY: null or valid for the call.
    let address = unsafe { Out::new(address) };
    call("cuMemAlloc", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, address) = (state.current()?, address?);
        let allocated = state.allocate_plain(bytes, context);
        address.set(allocated.unwrap_or(0))?;
        allocated.map(drop)
    })
}

pub(super) unsafe extern "C" fn cuMemFree(address: CUdeviceptr) -> CUresult {
    call(
        "cuMemFree",
        Named::Address(address),
        |machine, mut state| {
            if address == 0 {
                return Ok(());
            }
            let allocation = match state.allocation(address) {
                Err(_) if state.seen_current() == Current::Dead => {
                    return Err(CUresult::CONTEXT_IS_DESTROYED);
                }
                found => found?,
            };
            if allocation.is_pinned() {
                return Err(CUresult::INVALID_VALUE);
            }
            state.mark_freed(&allocation);
            // Plain memory waits for the work of its context. Pool memory does not.
            for mark in allocation
                .owner
                .map_or_else(Vec::new, |owner| state.ends_of(owner))
            {
                state = machine.wait(state, mark)?;
            }
            state.bury(&allocation);
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuPointerGetAttribute(
    data: *mut c_void,
    attribute: c_uint,
    address: CUdeviceptr,
) -> CUresult {
    call(
        "cuPointerGetAttribute",
        Named::Address(address),
        |machine, state| {
            let place = state.place(address, 1)?;
            let allocation = &place.allocation;
            let context = allocation.owner.map_or(Handle::NULL, |owner| owner.handle);
            match attribute {
                // SAFETY: each attribute has a type in cuda.h, and the caller passes null or a
                // pointer to one.
                1 => unsafe { Out::new(data.cast()) }?.set(CUcontext::from_ptr(context.as_ptr())),
                // SAFETY: as above. CU_MEMORYTYPE_HOST and CU_MEMORYTYPE_DEVICE.
                2 => unsafe { Out::new(data.cast()) }?.set(if allocation.is_pinned() {
                    1
                } else {
                    2 as c_uint
                }),
                // SAFETY: as above.
                3 => unsafe { Out::new(data.cast()) }?.set(address),
                // SAFETY: as above.
                8 => unsafe { Out::new(data.cast()) }?.set(c_uint::from(allocation.is_managed())),
                // SAFETY: as above.
                9 => unsafe { Out::new(data.cast()) }?.set(machine.ordinal(allocation.device)),
                // SAFETY: as above.
                11 => unsafe { Out::new(data.cast()) }?.set(allocation.base),
                // SAFETY: as above.
                12 => unsafe { Out::new(data.cast()) }?.set(allocation.bytes),
                _ => Err(CUresult::INVALID_VALUE),
            }
        },
    )
}

// Copies.

pub(super) unsafe extern "C" fn cuMemcpyHtoDAsync(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> CUresult {
    const NAME: &str = "cuMemcpyHtoDAsync";
    let stream = stream_handle(stream);
    call(NAME, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let (context, device) = state.home(stream)?;
        let to = state.place(to, bytes)?;
        state.may_copy(NAME, Some(device), &to)?;
        let from = HostPointer(from.cast_mut());
        if from.0.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        let is_page_locked = state.is_page_locked(from.0.addr() as u64, bytes);
        let mark = machine.enqueue(&mut state, stream, Work::FromHost { to, from, bytes })?;
        if is_page_locked || bytes <= STAGED_MAX {
            return Ok(());
        }
        machine.wait(state, mark)?.live(context)
    })
}

pub(super) unsafe extern "C" fn cuMemcpyDtoHAsync(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> CUresult {
    const NAME: &str = "cuMemcpyDtoHAsync";
    let stream = stream_handle(stream);
    call(NAME, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let (context, device) = state.home(stream)?;
        let from = state.place(from, bytes)?;
        state.may_copy(NAME, Some(device), &from)?;
        if to.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        let is_page_locked = state.is_page_locked(to.addr() as u64, bytes);
        let mark = machine.enqueue(
            &mut state,
            stream,
            Work::ToHost {
                to: HostPointer(to),
                from,
                bytes,
            },
        )?;
        if is_page_locked {
            return Ok(());
        }
        // To pageable memory, the call is not asynchronous at all.
        machine.wait(state, mark)?.live(context)
    })
}

pub(super) unsafe extern "C" fn cuMemcpyHtoD(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
) -> CUresult {
    const NAME: &str = "cuMemcpyHtoD";
    call(NAME, Named::Current, |machine, mut state| {
        let stream = state.stream(Handle::NULL)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.place(to, bytes)?;
        state.may_copy(NAME, None, &to)?;
        if from.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        // SAFETY: the caller passes `bytes` readable bytes.
        let from = unsafe { slice::from_raw_parts(from.cast::<u8>(), bytes) }.to_vec();
        // The call returns before the bytes have arrived: only the NULL stream's order knows of
        // them.
        machine.enqueue(&mut state, stream, Work::FromStaged { to, from })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuMemcpyDtoH(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
) -> CUresult {
    const NAME: &str = "cuMemcpyDtoH";
    call(NAME, Named::Current, |machine, mut state| {
        let stream = state.stream(Handle::NULL)?;
        if bytes == 0 {
            return Ok(());
        }
        let (context, _) = state.home(stream)?;
        let from = state.place(from, bytes)?;
        state.may_copy(NAME, None, &from)?;
        if to.is_null() {
            return Err(CUresult::INVALID_VALUE);
        }
        let mark = machine.enqueue(
            &mut state,
            stream,
            Work::ToHost {
                to: HostPointer(to),
                from,
                bytes,
            },
        )?;
        machine.wait(state, mark)?.live(context)
    })
}

pub(super) unsafe extern "C" fn cuMemcpyDtoDAsync(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> CUresult {
    const NAME: &str = "cuMemcpyDtoDAsync";
    let stream = stream_handle(stream);
    call(NAME, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let (_, device) = state.home(stream)?;
        let (to, from) = (state.place(to, bytes)?, state.place(from, bytes)?);
        state.may_copy(NAME, Some(device), &to)?;
        state.may_copy(NAME, Some(device), &from)?;
        machine.enqueue(&mut state, stream, Work::Copy { to, from, bytes })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuMemcpyPeerAsync(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
    stream: CUstream,
) -> CUresult {
    let stream = stream_handle(stream);
    call(
        "cuMemcpyPeerAsync",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            let mut devices = [0; 2];
            for (device, context) in devices.iter_mut().zip([to_context, from_context]) {
                *device = state.device_of(state.context(Handle::from_ptr(context.as_ptr()))?);
            }
            if bytes == 0 {
                return Ok(());
            }
            let (to, from) = (state.place(to, bytes)?, state.place(from, bytes)?);
            if !to.allocation.admits(devices[0]) || !from.allocation.admits(devices[1]) {
                return Err(CUresult::INVALID_VALUE);
            }
            machine.enqueue(&mut state, stream, Work::Copy { to, from, bytes })?;
            Ok(())
        },
    )
}

// Fills.

pub(super) unsafe extern "C" fn cuMemsetD8Async(
    to: CUdeviceptr,
    value: c_uchar,
    count: usize,
    stream: CUstream,
) -> CUresult {
    fill("cuMemsetD8Async", to, &[value], count, stream)
}

pub(super) unsafe extern "C" fn cuMemsetD16Async(
    to: CUdeviceptr,
    value: c_ushort,
    count: usize,
    stream: CUstream,
) -> CUresult {
    fill("cuMemsetD16Async", to, &value.to_ne_bytes(), count, stream)
}

pub(super) unsafe extern "C" fn cuMemsetD32Async(
    to: CUdeviceptr,
    value: c_uint,
    count: usize,
    stream: CUstream,
) -> CUresult {
    fill("cuMemsetD32Async", to, &value.to_ne_bytes(), count, stream)
}

fn fill(
    name: &'static str,
    to: CUdeviceptr,
    pattern: &[u8],
    count: usize,
    stream: CUstream,
) -> CUresult {
    let stream = stream_handle(stream);
    call(name, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        if count == 0 {
            return Ok(());
        }
        let bytes = count
            .checked_mul(pattern.len())
            .ok_or(CUresult::INVALID_VALUE)?;
        let (_, device) = state.home(stream)?;
        let is_aligned = to % pattern.len() as u64 == 0;
        let to = state.place(to, bytes)?;
        if !is_aligned || !to.allocation.admits(device) {
            return Err(CUresult::INVALID_VALUE);
        }
        machine.enqueue(
            &mut state,
            stream,
            Work::Fill {
                to,
                pattern: pattern.to_vec(),
                count,
            },
        )?;
        Ok(())
    })
}
