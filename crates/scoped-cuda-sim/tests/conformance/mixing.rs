//! Objects of two contexts in one call.

use crate::common::created_context;
use crate::rig::*;
use scoped_cuda::ffi::*;

#[test]
fn an_event_is_recorded_on_a_stream_of_its_own_context_and_waited_for_on_any() {
    on_two(|api, a, b| {
        assert_eq!(cu!(api.cuEventRecord(a.event, b.stream)), INVALID_HANDLE);
        ok(cu!(api.cuEventRecord(a.event, a.stream)));
        ok(cu!(api.cuStreamWaitEvent(b.stream, a.event, 0)));
        ok(api.sync(b.stream));
    });
}

/// The rule is about contexts and not about devices: a context that another library created on the
/// same device is another one.
#[test]
fn an_event_is_not_recorded_on_a_stream_of_another_context_of_its_device() {
    on_sides(|api, sides| {
        let (context, destroy) = created_context(api.driver, 0);
        let stream = api.within(context, || api.stream());
        let event = sides[0].event;
        assert_eq!(cu!(api.cuEventRecord(event, stream)), INVALID_HANDLE);
        ok(cu!(api.cuStreamWaitEvent(stream, event, 0)));
        ok(api.sync(stream));
        ok(cu!(api.cuStreamDestroy(stream)));
        destroy();
    });
}

#[test]
fn a_kernel_is_launched_on_a_stream_of_its_own_context() {
    on_two(|api, a, b| {
        api.answers(&[a, b], [INVALID_HANDLE; 3], || {
            api.launch(a.nothing, b.stream)
        });
    });
}

#[test]
fn a_fill_of_another_devices_memory_is_refused_until_its_pool_admits_the_streams_device() {
    on_two(|api, a, b| {
        let fill = |address| cu!(api.cuMemsetD32Async(address, 1, 16, b.stream));
        assert_eq!(fill(a.plain[0]), INVALID_VALUE);
        assert_eq!(fill(a.pooled[0]), INVALID_VALUE);
        ok(api.admit(a.pool, b.device));
        ok(api.within(b.context, || fill(a.pooled[0])));
        ok(api.sync(b.stream));
    });
}

#[test]
fn a_host_copy_reaches_plain_memory_of_another_device() {
    on_two(|api, a, b| {
        let host = [9_u8; 256];
        let from = (&raw const host).cast();
        ok(cu!(api.cuMemcpyHtoDAsync(b.plain[0], from, 256, a.stream)));
        ok(api.sync(a.stream));
        assert_eq!(api.bytes(b, b.plain[0]), [9; 4]);
    });
}

/// A free takes any stream and either function takes memory of both kinds.
#[test]
fn memory_is_freed_by_either_call_and_on_any_stream() {
    on_sides(|api, sides| {
        let own = sides[0];
        let away = sides.last().unwrap().stream;
        for (stream, expected) in [(own.stream, SUCCESS), (away, SUCCESS)] {
            let address = api.pooled(own.pool, 4096, own.stream);
            assert_eq!(cu!(api.cuMemFreeAsync(address, stream)), expected);
            ok(api.sync(stream));
        }
        let address = api.pooled(own.pool, 4096, own.stream);
        ok(more!(api.cuMemFree(address)));
        let address = api.within(own.context, || api.plain(4096));
        ok(cu!(api.cuMemFreeAsync(address, own.stream)));
        ok(api.sync(own.stream));
    });
}

#[test]
fn pool_memory_has_a_device_and_no_context() {
    on_sides(|api, sides| {
        let Side {
            context,
            device,
            plain,
            pooled,
            ..
        } = sides[0];
        let of = |address| api.attribute(POINTER_CONTEXT, address, context);
        assert_eq!(of(plain[0]), (SUCCESS, context));
        assert_eq!(of(pooled[0]), (SUCCESS, CUcontext::NULL));
        for address in [plain[0], pooled[0]] {
            assert_eq!(api.device_of(address), device);
            let kind = api.attribute(POINTER_MEMORY_TYPE, address, 0_u32);
            assert_eq!(kind, (SUCCESS, 2), "device memory");
        }
        let host = [0_u8; 16];
        for elsewhere in [(&raw const host).addr() as u64, 0x1234] {
            let (code, _) = api.attribute(POINTER_MEMORY_TYPE, elsewhere, 0_u32);
            assert_eq!(code, INVALID_VALUE);
        }
    });
}

#[test]
fn peer_access_has_a_direction_and_is_enabled_once() {
    on_two(|api, a, b| {
        let enable = || more!(api.cuCtxEnablePeerAccess(b.context, 0));
        let disable = || more!(api.cuCtxDisablePeerAccess(b.context));
        api.within(a.context, || {
            assert_eq!(disable(), CUresult::PEER_ACCESS_NOT_ENABLED);
            ok(enable());
            assert_eq!(enable(), CUresult::PEER_ACCESS_ALREADY_ENABLED);
        });
        let back = api.within(b.context, || more!(api.cuCtxDisablePeerAccess(a.context)));
        assert_eq!(back, CUresult::PEER_ACCESS_NOT_ENABLED);
        api.within(a.context, || {
            ok(disable());
            assert_eq!(disable(), CUresult::PEER_ACCESS_NOT_ENABLED);
        });
    });
}

/// For pool memory, the copy needs the *current* device to be admitted to the other one's pool.
/// Plain memory needs nothing.
#[test]
fn a_copy_between_devices_asks_whether_the_current_device_is_admitted_to_both_pools() {
    on_two(|api, a, b| {
        let copy = |to, from| cu!(api.cuMemcpyDtoDAsync(to, from, 256, a.stream));
        for context in [a.context, b.context] {
            ok(api.within(context, || copy(b.plain[0], a.plain[0])));
        }
        let answer = |is_admitted| match is_admitted {
            true => SUCCESS,
            false => INVALID_VALUE,
        };
        for (a_to_b, b_to_a) in [(false, false), (true, false), (false, true), (true, true)] {
            let pools = [api.pool(a.device), api.pool(b.device)];
            let from = api.pooled(pools[0], 256, a.stream);
            let to = api.pooled(pools[1], 256, b.stream);
            if a_to_b {
                ok(api.admit(pools[1], a.device));
            }
            if b_to_a {
                ok(api.admit(pools[0], b.device));
            }
            let with_a = api.within(a.context, || copy(to, from));
            let with_b = api.within(b.context, || copy(to, from));
            assert_eq!([with_a, with_b], [answer(a_to_b), answer(b_to_a)]);
            ok(api.sync(a.stream));
            ok(cu!(api.cuMemFreeAsync(from, a.stream)));
            ok(cu!(api.cuMemFreeAsync(to, b.stream)));
            ok(api.sync(a.stream));
            ok(api.sync(b.stream));
            for pool in pools {
                ok(cu!(api.cuMemPoolDestroy(pool)));
            }
        }
    });
}

/// Why the crate copies between devices with this call and no other.
#[test]
fn a_peer_copy_is_right_for_all_memory_on_either_stream_whatever_is_current() {
    on_two(|api, a, b| {
        let pairs = [(b.plain[0], a.plain[0]), (b.pooled[0], a.pooled[0])];
        for (value, (to, from)) in (1..).zip(pairs) {
            for stream in [a.stream, b.stream] {
                ok(cu!(api.cuMemsetD8Async(from, value, 256, a.stream)));
                ok(cu!(api.cuMemsetD8Async(to, 0, 256, b.stream)));
                ok(api.sync(a.stream));
                ok(api.sync(b.stream));
                api.answers(&[a, b], [SUCCESS; 3], || {
                    cu!(api.cuMemcpyPeerAsync(to, b.context, from, a.context, 256, stream))
                });
                ok(api.sync(stream));
                assert_eq!(api.bytes(b, to), [value; 4]);
            }
        }
    });
}

#[test]
fn a_peer_copy_that_names_the_wrong_context_needs_its_device_admitted() {
    on_two(|api, a, b| {
        let [from, to] = a.pooled;
        let copy = || cu!(api.cuMemcpyPeerAsync(to, b.context, from, b.context, 256, a.stream));
        assert_eq!(copy(), INVALID_VALUE);
        assert_eq!(api.within(a.context, copy), INVALID_VALUE);
        ok(api.admit(a.pool, b.device));
        ok(api.within(b.context, copy));
        ok(api.sync(a.stream));
    });
}
