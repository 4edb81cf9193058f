//! Which calls look at the context that is current on the thread, and what they do with a wrong
//! one.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::CString;
use std::ptr;

/// The answers of a call that names all it needs.
const ANY: [CUresult; 3] = [SUCCESS; 3];
/// The answers of a call that needs a context and takes any.
const NEEDS_ONE: [CUresult; 3] = [INVALID_CONTEXT, SUCCESS, SUCCESS];

/// Undoes a call that succeeded, and passes its answer on.
fn undo(code: CUresult, undo: impl FnOnce() -> CUresult) -> CUresult {
    if code == SUCCESS {
        ok(undo());
    }
    code
}

#[test]
fn creation_needs_a_context_and_takes_any() {
    on_sides(|api, sides| {
        let mut address = 0;
        api.answers(sides, NEEDS_ONE, || {
            let code = more!(api.cuMemAlloc(&raw mut address, 256));
            undo(code, || more!(api.cuMemFree(address)))
        });
        let mut stream = CUstream::NULL;
        api.answers(sides, NEEDS_ONE, || {
            let code = cu!(api.cuStreamCreate(&raw mut stream, CU_STREAM_NON_BLOCKING));
            undo(code, || cu!(api.cuStreamDestroy(stream)))
        });
        let mut event = CUevent::NULL;
        api.answers(sides, NEEDS_ONE, || {
            let code = cu!(api.cuEventCreate(&raw mut event, CU_EVENT_DISABLE_TIMING));
            undo(code, || cu!(api.cuEventDestroy(event)))
        });
        let (ptx, mut module) = (
            CString::new(crate::common::PTX.as_str()).unwrap(),
            CUmodule::NULL,
        );
        api.answers(sides, NEEDS_ONE, || {
            let code = cu!(api.cuModuleLoadDataEx(
                &raw mut module,
                ptx.as_ptr().cast(),
                0,
                ptr::null_mut(),
                ptr::null_mut()
            ));
            undo(code, || cu!(api.cuModuleUnload(module)))
        });
        api.answers(sides, NEEDS_ONE, || more!(api.cuCtxSynchronize()));
        let (mut free, mut total) = (0, 0);
        api.answers(sides, NEEDS_ONE, || {
            cu!(api.cuMemGetInfo(&raw mut free, &raw mut total))
        });
    });
}

/// The silent mistake that the crate is about: the object is made, and it is the wrong device's.
#[test]
fn what_is_created_belongs_to_whatever_is_current() {
    on_two(|api, a, b| {
        ok(cu!(api.cuCtxPushCurrent(b.context)));
        let (address, stream, event) = (api.plain(256), api.stream(), api.event());
        let module = api.load(crate::common::PTX.as_str());
        ok(cu!(api.cuCtxPopCurrent(ptr::null_mut())));

        assert_eq!(api.device_of(address), b.device);
        let mut home = CUcontext::NULL;
        ok(more!(api.cuStreamGetCtx(stream, &raw mut home)));
        assert_eq!(home, b.context);
        assert_eq!(cu!(api.cuEventRecord(event, a.stream)), INVALID_HANDLE);
        ok(cu!(api.cuEventRecord(event, b.stream)));
        let nothing = api.function(module, "nothing");
        assert_eq!(api.launch(nothing, a.stream), INVALID_HANDLE);
        ok(api.launch(nothing, b.stream));

        ok(api.sync(b.stream));
        ok(cu!(api.cuModuleUnload(module)));
        ok(cu!(api.cuEventDestroy(event)));
        ok(cu!(api.cuStreamDestroy(stream)));
        ok(more!(api.cuMemFree(address)));
    });
}

#[test]
fn copies_of_plain_memory_on_a_stream_need_no_context() {
    on_sides(|api, sides| {
        let Side { stream, plain, .. } = sides[0];
        let mut host = [7_u8; 256];
        let bytes = (&raw mut host).cast();
        api.answers(sides, ANY, || {
            cu!(api.cuMemcpyHtoDAsync(plain[0], bytes, 256, stream))
        });
        api.answers(sides, ANY, || {
            cu!(api.cuMemcpyDtoHAsync(bytes, plain[0], 256, stream))
        });
        api.answers(sides, ANY, || {
            cu!(api.cuMemcpyDtoDAsync(plain[1], plain[0], 256, stream))
        });
        ok(api.sync(stream));
    });
}

/// Pool memory has no context that the driver could take instead of the current one: it asks
/// whether the current device may have it.
#[test]
fn copies_of_pool_memory_refuse_a_wrong_context_until_its_device_is_admitted() {
    on_sides(|api, sides| {
        const NOT_OTHER: [CUresult; 3] = [SUCCESS, INVALID_VALUE, SUCCESS];
        let own = sides[0];
        let mut host = [7_u8; 256];
        let bytes = (&raw mut host).cast();
        let to_device = || cu!(api.cuMemcpyHtoDAsync(own.pooled[0], bytes, 256, own.stream));
        let to_host = || cu!(api.cuMemcpyDtoHAsync(bytes, own.pooled[0], 256, own.stream));
        api.answers(sides, NOT_OTHER, to_device);
        api.answers(sides, NOT_OTHER, to_host);
        api.answers(sides, NOT_OTHER, || {
            cu!(api.cuMemcpyDtoDAsync(own.pooled[1], own.pooled[0], 256, own.stream))
        });
        api.answers(sides, NOT_OTHER, || {
            cu!(api.cuMemcpyDtoDAsync(own.plain[0], own.pooled[0], 256, own.stream))
        });
        if let Some(other) = sides.get(1) {
            ok(api.admit(own.pool, other.device));
            ok(api.within(other.context, to_device));
            ok(api.within(other.context, to_host));
        }
        ok(api.sync(own.stream));
    });
}

#[test]
fn synchronous_copies_need_a_context_and_for_pool_memory_the_right_one() {
    on_sides(|api, sides| {
        let Side { plain, pooled, .. } = sides[0];
        let mut host = [7_u8; 256];
        let bytes = (&raw mut host).cast();
        // They return before the bytes are there, so that each is waited for.
        let wait = || more!(api.cuCtxSynchronize());
        api.answers(sides, NEEDS_ONE, || {
            undo(more!(api.cuMemcpyHtoD(plain[0], bytes, 256)), wait)
        });
        api.answers(sides, NEEDS_ONE, || {
            undo(more!(api.cuMemcpyDtoH(bytes, plain[0], 256)), wait)
        });
        let right_one = [INVALID_CONTEXT, INVALID_VALUE, SUCCESS];
        api.answers(sides, right_one, || {
            undo(more!(api.cuMemcpyHtoD(pooled[0], bytes, 256)), wait)
        });
        api.answers(sides, right_one, || {
            undo(more!(api.cuMemcpyDtoH(bytes, pooled[0], 256)), wait)
        });
    });
}

#[test]
fn fills_allocation_and_frees_on_a_stream_need_no_context() {
    on_sides(|api, sides| {
        let own = sides[0];
        for to in [own.plain[0], own.pooled[0]] {
            api.answers(sides, ANY, || {
                cu!(api.cuMemsetD8Async(to, 1, 64, own.stream))
            });
            api.answers(sides, ANY, || {
                cu!(api.cuMemsetD16Async(to, 1, 16, own.stream))
            });
            api.answers(sides, ANY, || {
                cu!(api.cuMemsetD32Async(to, 1, 16, own.stream))
            });
        }
        let mut address = 0;
        api.answers(sides, ANY, || {
            let code =
                cu!(api.cuMemAllocFromPoolAsync(&raw mut address, 256, own.pool, own.stream));
            undo(code, || cu!(api.cuMemFreeAsync(address, own.stream)))
        });
        api.answers(sides, ANY, || {
            let address = api.within(own.context, || api.plain(256));
            more!(api.cuMemFree(address))
        });
        ok(api.sync(own.stream));
    });
}

#[test]
fn launches_events_and_waits_on_a_stream_need_no_context() {
    on_sides(|api, sides| {
        let Side {
            stream,
            event,
            nothing,
            context,
            ..
        } = sides[0];
        api.answers(sides, ANY, || api.launch(nothing, stream));
        api.answers(sides, ANY, || cu!(api.cuEventRecord(event, stream)));
        api.answers(sides, ANY, || cu!(api.cuStreamWaitEvent(stream, event, 0)));
        api.answers(sides, ANY, || api.host(stream, || ()));
        api.answers(sides, ANY, || api.sync(stream));
        api.answers(sides, ANY, || cu!(api.cuStreamQuery(stream)));
        api.answers(sides, ANY, || more!(api.cuEventSynchronize(event)));
        api.answers(sides, ANY, || more!(api.cuEventQuery(event)));
        let mut home = CUcontext::NULL;
        api.answers(sides, ANY, || {
            more!(api.cuStreamGetCtx(stream, &raw mut home))
        });
        assert_eq!(home, context);
    });
}

/// The NULL stream is the current context's, and so another one for each.
#[test]
fn a_launch_on_the_null_stream_needs_the_right_context() {
    on_sides(|api, sides| {
        let answers = [INVALID_CONTEXT, INVALID_HANDLE, SUCCESS];
        api.answers(sides, answers, || {
            let code = api.launch(sides[0].nothing, CUstream::NULL);
            undo(code, || more!(api.cuCtxSynchronize()))
        });
    });
}

#[test]
fn what_names_an_object_to_destroy_or_to_ask_needs_no_context() {
    on_sides(|api, sides| {
        let own = sides[0];
        api.answers(sides, ANY, || {
            let stream = api.within(own.context, || api.stream());
            cu!(api.cuStreamDestroy(stream))
        });
        api.answers(sides, ANY, || {
            let event = api.within(own.context, || api.event());
            cu!(api.cuEventDestroy(event))
        });
        api.answers(sides, ANY, || {
            let module = api.within(own.context, || api.load(crate::common::PTX.as_str()));
            cu!(api.cuModuleUnload(module))
        });
        let mut function = CUfunction::NULL;
        api.answers(sides, ANY, || {
            cu!(api.cuModuleGetFunction(&raw mut function, own.module, c"scale".as_ptr()))
        });
        let (mut offset, mut size, mut threads) = (0, 0, 0);
        let info = api.cu.cuFuncGetParamInfo.unwrap();
        api.answers(sides, ANY, || {
            // SAFETY: the out-pointers are valid for the call.
            unsafe { info(function, 1, &raw mut offset, &raw mut size) }
        });
        assert_eq!((offset, size), (8, 4));
        let attribute = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        api.answers(sides, ANY, || {
            cu!(api.cuFuncGetAttribute(&raw mut threads, attribute, function))
        });
        assert_eq!(threads, 1024);
        api.answers(sides, ANY, || {
            let (code, context) = api.attribute(POINTER_CONTEXT, own.plain[0], CUcontext::NULL);
            assert_eq!(context, own.context);
            code
        });
    });
}

/// A pool belongs to the device that its properties name, and its memory too, whatever stream
/// allocates it.
#[test]
fn pools_need_no_context() {
    on_sides(|api, sides| {
        let own = sides[0];
        let away = *sides.last().unwrap();
        let (properties, mut pool) = (pool_of(own.device), CUmemoryPool::NULL);
        api.answers(sides, ANY, || {
            ok(cu!(
                api.cuMemPoolCreate(&raw mut pool, &raw const properties)
            ));
            ok(api.keep(pool));
            ok(api.admit(pool, away.device));
            ok(api.admit(pool, own.device));
            for stream in [own.stream, away.stream] {
                let address = api.pooled(pool, 4096, stream);
                assert_eq!(api.device_of(address), own.device);
                ok(cu!(api.cuMemFreeAsync(address, stream)));
                ok(api.sync(stream));
            }
            cu!(api.cuMemPoolDestroy(pool))
        });
    });
}

#[test]
fn peer_access_is_the_current_contexts() {
    on_two(|api, a, b| {
        let sides = [a, b];
        let answers = [INVALID_CONTEXT, CUresult::PEER_ACCESS_UNSUPPORTED, SUCCESS];
        api.answers(&sides, answers, || {
            let code = more!(api.cuCtxEnablePeerAccess(b.context, 0));
            undo(code, || more!(api.cuCtxDisablePeerAccess(b.context)))
        });
        api.answers(&sides, [INVALID_CONTEXT; 3], || {
            more!(api.cuCtxEnablePeerAccess(CUcontext::NULL, 0))
        });
        let answers = [INVALID_CONTEXT, INVALID_VALUE, INVALID_VALUE];
        api.answers(&sides, answers, || {
            more!(api.cuCtxEnablePeerAccess(b.context, 1))
        });
    });
}

/// The copy that needs nothing: both ends name their context, which may be the same.
#[test]
fn a_peer_copy_within_one_context_needs_none() {
    on_sides(|api, sides| {
        let own = sides[0];
        let context = own.context;
        let copy =
            |to, from, stream| cu!(api.cuMemcpyPeerAsync(to, context, from, context, 256, stream));
        ok(cu!(api.cuMemsetD8Async(own.pooled[0], 5, 256, own.stream)));
        ok(cu!(api.cuMemsetD8Async(own.plain[0], 6, 256, own.stream)));
        api.answers(sides, ANY, || copy(own.plain[1], own.plain[0], own.stream));
        api.answers(sides, ANY, || {
            copy(own.pooled[1], own.pooled[0], own.stream)
        });
        assert_eq!(api.bytes(own, own.plain[1]), [6; 4]);
        assert_eq!(api.bytes(own, own.pooled[1]), [5; 4]);
        api.answers(sides, ANY, || copy(own.plain[1], own.pooled[0], own.stream));
        assert_eq!(api.bytes(own, own.plain[1]), [5; 4]);
        let away = sides.last().unwrap().stream;
        api.answers(sides, ANY, || copy(own.pooled[1], own.pooled[0], away));
        ok(api.sync(away));
    });
}
