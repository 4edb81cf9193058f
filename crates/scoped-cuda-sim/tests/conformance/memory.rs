//! Sizes, bounds, frees, and when a copy returns.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ptr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// What an allocation that succeeds is given back, and one that fails leaves behind in its
/// out-variable.
#[test]
fn allocations_of_nothing_and_of_too_much() {
    on_sides(|api, sides| {
        let Side {
            context,
            pool,
            stream,
            ..
        } = sides[0];
        let plain = |bytes| {
            let mut address = UNTOUCHED;
            let code = api.within(context, || more!(api.cuMemAlloc(&raw mut address, bytes)));
            (code, address)
        };
        let pooled = |bytes| {
            let mut address = UNTOUCHED;
            let code = cu!(api.cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, stream));
            (code, address)
        };
        assert_eq!(plain(0), (INVALID_VALUE, 0));
        assert_eq!(pooled(0), (SUCCESS, 0));
        for bytes in [160 << 30, 1 << 60, usize::MAX] {
            assert_eq!(plain(bytes), (CUresult::OUT_OF_MEMORY, 0));
            assert_eq!(pooled(bytes), (CUresult::OUT_OF_MEMORY, 0));
        }
        ok(api.sync(stream));
    });
}

#[test]
fn work_on_nothing_succeeds_and_looks_at_no_address() {
    on_sides(|api, sides| {
        let Side {
            context,
            stream,
            pooled,
            ..
        } = sides[0];
        let away = sides.last().unwrap().context;
        ok(cu!(api.cuCtxPushCurrent(context)));
        ok(cu!(api.cuMemsetD8Async(0, 0, 0, stream)));
        ok(cu!(api.cuMemsetD8Async(pooled[0], 0, 0, stream)));
        ok(cu!(api.cuMemsetD32Async(0, 0, 0, stream)));
        ok(cu!(api.cuMemcpyHtoDAsync(0, ptr::null(), 0, stream)));
        ok(cu!(api.cuMemcpyDtoHAsync(ptr::null_mut(), 0, 0, stream)));
        ok(cu!(api.cuMemcpyDtoDAsync(0, 0, 0, stream)));
        ok(cu!(api.cuMemcpyPeerAsync(0, away, 0, context, 0, stream)));
        let host = [0_u8; 16];
        let from = (&raw const host).cast();
        let to = pooled[0];
        let no_target = cu!(api.cuMemcpyHtoDAsync(0, from, 16, stream));
        let no_source = cu!(api.cuMemcpyHtoDAsync(to, ptr::null(), 16, stream));
        assert_eq!([no_target, no_source], [INVALID_VALUE; 2]);
        let misaligned = cu!(api.cuMemsetD32Async(to + 2, 0, 4, stream));
        assert_eq!(misaligned, INVALID_VALUE);
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
        ok(api.sync(stream));
    });
}

/// Pool memory ends where it was asked to end. (Plain memory ends later, at the end of what was
/// reserved for it.)
#[test]
fn pool_memory_is_refused_past_its_end_and_nothing_is_broken() {
    on_sides(|api, sides| {
        const FAR: usize = 64 << 20;
        let (own, away) = (sides[0], *sides.last().unwrap());
        let stream = own.stream;
        let address = api.pooled(own.pool, 256, stream);
        ok(cu!(api.cuCtxPushCurrent(own.context)));
        for bytes in [257, 512, 4096, 1 << 20] {
            let mut host = vec![1_u8; bytes];
            let host = host.as_mut_ptr().cast();
            let there = cu!(api.cuMemcpyHtoDAsync(address, host, bytes, stream));
            let back = cu!(api.cuMemcpyDtoHAsync(host, address, bytes, stream));
            assert_eq!([there, back], [INVALID_VALUE; 2], "{bytes} bytes");
        }
        let within = cu!(api.cuMemcpyDtoDAsync(own.pooled[0], address, FAR, stream));
        let across = cu!(api.cuMemcpyPeerAsync(
            away.pooled[0],
            away.context,
            address,
            own.context,
            FAR,
            stream
        ));
        let fill = cu!(api.cuMemsetD8Async(address, 0, FAR, stream));
        assert_eq!([within, across, fill], [INVALID_VALUE; 3]);
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
        ok(cu!(api.cuMemFreeAsync(address, stream)));
        ok(api.sync(stream));
    });
}

#[test]
fn freed_memory_is_refused() {
    on_sides(|api, sides| {
        let Side {
            context,
            pool,
            stream,
            pooled,
            ..
        } = sides[0];
        let host = [0_u8; 256];
        let from = (&raw const host).cast();
        let gone = api.pooled(pool, 256, stream);
        ok(cu!(api.cuMemFreeAsync(gone, stream)));
        ok(api.sync(stream));
        ok(cu!(api.cuCtxPushCurrent(context)));
        let copy = cu!(api.cuMemcpyHtoDAsync(gone, from, 256, stream));
        let fill = cu!(api.cuMemsetD8Async(gone, 0, 256, stream));
        let peer = cu!(api.cuMemcpyPeerAsync(gone, context, pooled[0], context, 256, stream));
        assert_eq!([copy, fill, peer], [INVALID_VALUE; 3]);
        let gone = api.plain(256);
        ok(more!(api.cuMemFree(gone)));
        let again = more!(api.cuMemFree(gone));
        let copy = more!(api.cuMemcpyHtoD(gone, from, 16));
        assert_eq!([again, copy], [INVALID_VALUE; 2]);
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
        ok(api.sync(stream));
    });
}

#[test]
fn a_free_takes_the_start_of_live_memory_or_null() {
    on_sides(|api, sides| {
        let own = sides[0];
        let free = |address| cu!(api.cuMemFreeAsync(address, own.stream));
        ok(cu!(api.cuCtxPushCurrent(own.context)));
        ok(free(0));
        ok(more!(api.cuMemFree(0)));
        assert_eq!(free(0x12_3400), INVALID_VALUE);
        assert_eq!(more!(api.cuMemFree(own.plain[0] + 256)), INVALID_VALUE);
        assert_eq!(free(own.pooled[0] + 256), INVALID_VALUE);
        let address = api.pooled(own.pool, 256, own.stream);
        ok(free(address));
        assert_eq!(free(address), INVALID_VALUE);
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));
        ok(api.sync(own.stream));
    });
}

/// Starts a copy of `bytes` pageable bytes behind a gate on a thread of its own, and finds out
/// whether the call returns, within `patience`, before the gate opens.
fn returns_at_once(
    api: Api,
    side: Side,
    bytes: usize,
    is_to_host: bool,
    patience: Duration,
) -> bool {
    let device = api.within(side.context, || api.plain(bytes));
    let mut host = vec![1_u8; bytes];
    let gate = api.gate(side.stream);
    let (returned, returns) = mpsc::channel();
    let is_early = thread::scope(|threads| {
        let host = &mut host;
        threads.spawn(move || {
            let host = host.as_mut_ptr().cast();
            let copy = || match is_to_host {
                true => cu!(api.cuMemcpyDtoHAsync(host, device, bytes, side.stream)),
                false => cu!(api.cuMemcpyHtoDAsync(device, host.cast_const(), bytes, side.stream)),
            };
            returned.send(api.within(side.context, copy)).unwrap();
        });
        let early = returns.recv_timeout(patience);
        drop(gate);
        ok(early.unwrap_or_else(|_| returns.recv_timeout(PATIENCE).unwrap()));
        early.is_ok()
    });
    ok(api.sync(side.stream));
    ok(more!(api.cuMemFree(device)));
    is_early
}

/// Why only pinned memory overlaps, and why a read waits on the thread that calls it. (Between 1
/// and 16 MiB nobody has looked.)
#[test]
fn an_asynchronous_copy_of_pageable_memory_blocks_when_it_reads_or_is_large() {
    on_sides(|api, sides| {
        for bytes in [4, 4096, 65_536, 65_537, 1 << 20] {
            let is_early = returns_at_once(api, sides[0], bytes, false, PATIENCE);
            assert!(is_early, "{bytes}");
        }
        assert!(!returns_at_once(api, sides[0], 16 << 20, false, WATCH));
        for bytes in [4, 1 << 20, 16 << 20] {
            let is_early = returns_at_once(api, sides[0], bytes, true, WATCH);
            assert!(!is_early, "{bytes}");
        }
    });
}

#[test]
fn memory_of_a_destroyed_pool_is_usable_until_it_is_freed() {
    on_sides(|api, sides| {
        let Side { device, stream, .. } = sides[0];
        let pool = api.pool(device);
        let [first, second] = [(); 2].map(|()| api.pooled(pool, 4096, stream));
        ok(cu!(api.cuMemPoolDestroy(pool)));
        ok(cu!(api.cuMemsetD8Async(first, 1, 4096, stream)));
        assert_eq!(api.bytes(sides[0], first), [1; 4]);
        ok(cu!(api.cuMemFreeAsync(first, stream)));
        ok(api.sync(stream));
        assert_eq!(cu!(api.cuMemFreeAsync(first, stream)), INVALID_VALUE);
        let away = sides.last().unwrap().stream;
        ok(cu!(api.cuMemFreeAsync(second, away)));
        ok(api.sync(away));
        let fill = cu!(api.cuMemsetD8Async(second, 1, 16, stream));
        assert_eq!(fill, INVALID_VALUE);
    });
}

#[test]
fn a_destroyed_pool_is_refused() {
    on_sides(|api, sides| {
        let Side { device, stream, .. } = sides[0];
        for is_empty in [true, false] {
            let pool = api.pool(device);
            let address = (!is_empty).then(|| api.pooled(pool, 4096, stream));
            ok(cu!(api.cuMemPoolDestroy(pool)));
            assert_eq!(cu!(api.cuMemPoolDestroy(pool)), INVALID_VALUE);
            if let Some(address) = address {
                let mut more = 0;
                let code = cu!(api.cuMemAllocFromPoolAsync(&raw mut more, 256, pool, stream));
                assert_eq!(code, INVALID_VALUE);
                ok(cu!(api.cuMemFreeAsync(address, stream)));
                ok(api.sync(stream));
            }
        }
    });
}

/// Pool memory outlives its pool and the context that was alive when it was allocated, and a pool
/// does so, too. (With one device there is no other context to free it from.)
#[test]
fn pool_memory_is_freed_after_its_pool_and_its_devices_context() {
    on_api(|api| {
        if api.driver.device_count().unwrap() < 2 {
            return one_device_only();
        }
        let [a, b] = [0, 1].map(|ordinal| api.side(ordinal));
        let pools = [api.pool(a.device), api.pool(a.device)];
        let [first, second] = [(); 2].map(|()| api.pooled(pools[0], 4096, a.stream));
        ok(cu!(api.cuMemPoolDestroy(pools[0])));
        api.close(a);
        assert_eq!(api.state(a.device), (0, 0));
        ok(cu!(api.cuMemPoolDestroy(pools[1])));
        ok(cu!(api.cuMemFreeAsync(first, b.stream)));
        ok(api.sync(b.stream));
        ok(more!(api.cuMemFree(second)));
        api.close(b);
    });
}
