//! Copies, pools.

#![allow(unsafe_code)] // raw driver calls

use super::*;

#[test]
fn copies_of_pool_memory_depend_on_the_current_context() {
    let program = patient();
    let (first, second) = (program.retain(0), program.retain(1));
    let (stream, other) = (program.stream(first), program.stream(second));
    let pool = program.pool(0);
    let (memory, plain) = (program.allocate(pool, stream, 4), program.plain(first, 4));
    let mut host = [1_u8; 4];
    let from: *const c_void = (&raw mut host).cast();
    let copy = |to, stream| cu!(program, cuMemcpyHtoDAsync, to, from, 4, stream);
    ok(copy(memory, stream));
    ok(program.within(first, || copy(memory, stream)));
    assert_eq!(
        program.within(second, || copy(memory, stream)),
        CUresult::INVALID_VALUE
    );
    ok(program.within(second, || copy(plain, stream)));
    ok(copy(plain, other));
    assert!(program.machine.violations().is_empty());
    assert_eq!(copy(memory, other), CUresult::INVALID_VALUE);
    assert_eq!(program.machine.violations().len(), 1);
    let away = program.plain(second, 4);
    ok(program.within(second, || {
        cu!(
            program,
            cuMemcpyPeerAsync,
            away,
            second,
            memory,
            first,
            4,
            stream
        )
    }));
    let wrong = cu!(
        program,
        cuMemcpyPeerAsync,
        away,
        first,
        memory,
        second,
        4,
        stream
    );
    assert_eq!(wrong, CUresult::INVALID_VALUE);
    ok(program.sync(stream));
    assert_eq!(program.read(away, other), [1; 4]);
    let access = CUmemAccessDesc {
        location: CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            id: program.device(1),
        },
        flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    assert_eq!(
        cu!(program, cuMemsetD8Async, memory, 0, 4, other),
        CUresult::INVALID_VALUE
    );
    ok(cu!(program, cuMemPoolSetAccess, pool, &raw const access, 1));
    ok(program.within(second, || copy(memory, stream)));
    ok(cu!(program, cuMemsetD8Async, memory, 0, 4, other));
    assert_eq!(
        cu!(program, cuMemsetD8Async, memory, 0, 5, stream),
        CUresult::INVALID_VALUE
    );
    assert_eq!(
        cu!(program, cuMemsetD32Async, memory + 1, 0, 0, stream),
        CUresult::SUCCESS
    );
    ok(program.sync(stream));
}

#[test]
fn a_copy_reads_the_host_memory_when_it_runs() {
    let program = patient();
    let context = program.retain(0);
    let (stream, memory) = (program.stream(context), program.plain(context, 4));
    let host = std::cell::Cell::new([1_u8; 4]);
    ok(cu!(
        program,
        cuMemcpyHtoDAsync,
        memory,
        host.as_ptr().cast(),
        4,
        stream
    ));
    host.set([2; 4]);
    assert_eq!(cu!(program, cuStreamQuery, stream), CUresult::NOT_READY);
    assert_eq!(program.read(memory, stream), [2; 4]);
    ok(cu!(program, cuStreamQuery, stream));
}

#[test]
fn a_synchronous_copy_returns_before_the_bytes_are_there() {
    let program = patient();
    let context = program.retain(0);
    let (stream, memory) = (program.stream(context), program.plain(context, 4));
    let copy = |host: &[u8; 4]| {
        let from: *const c_void = (&raw const *host).cast();
        more!(program, cuMemcpyHtoD 3020 (u64, *const c_void, usize), memory, from, 4)
    };
    assert_eq!(copy(&[1; 4]), CUresult::INVALID_CONTEXT);
    ok(program.within(context, || copy(&[1; 4])));
    assert_eq!(program.read(memory, stream), [0xCD; 4]);
    let mut host = [0_u8; 4];
    let to: *mut c_void = (&raw mut host).cast();
    ok(program.within(
        context,
        || more!(program, cuMemcpyDtoH 3020 (*mut c_void, u64, usize), to, memory, 4),
    ));
    assert_eq!(host, [1; 4]);
}

#[test]
fn pool_memory_lives_from_its_allocate_to_its_free_in_the_stream() {
    let program = patient();
    let context = program.retain(0);
    let (stream, other) = (program.stream(context), program.stream(context));
    let pool = program.pool(0);
    let memory = program.allocate(pool, stream, 64);
    ok(cu!(program, cuMemPoolDestroy, pool));
    ok(cu!(program, cuMemsetD8Async, memory, 7, 64, stream));
    ok(cu!(program, cuMemFreeAsync, memory, stream));
    assert_eq!(
        cu!(program, cuMemFreeAsync, memory, stream),
        CUresult::INVALID_VALUE
    );
    assert_eq!(
        cu!(program, cuMemsetD8Async, memory, 7, 64, stream),
        CUresult::INVALID_VALUE
    );
    assert_eq!(program.machine.live().allocations, 0);
    ok(program.sync(stream));
    let pool = program.pool(0);
    let memory = program.allocate(pool, stream, 64);
    ok(cu!(program, cuMemsetD8Async, memory, 7, 64, other));
    assert_eq!(program.sync(other), CUresult::ILLEGAL_ADDRESS);
    assert!(program.machine.violations()[0].contains("before the stream that allocates it"));
}

#[test]
fn pool_memory_that_nobody_frees_is_still_there_after_its_context() {
    let program = patient();
    let stream = program.stream(program.retain(0));
    let pool = program.pool(0);
    let [kept, freed] = [8, 16].map(|bytes| program.allocate(pool, stream, bytes));
    ok(program.sync(stream));
    ok(cu!(program, cuMemFreeAsync, freed, stream));
    ok(program.release(0));
    ok(cu!(program, cuMemPoolDestroy, pool));
    assert_eq!(
        program.machine.live(),
        Live {
            allocations: 1,
            bytes: 8,
            ..Live::default()
        }
    );
    ok(more!(program, cuMemFree 3020 (u64), kept));
    assert_eq!(program.machine.live(), Live::default());
}

#[test]
fn rows_are_copied_and_nothing_between_them() {
    let program = patient();
    let (first, second) = (program.retain(0), program.retain(1));
    let stream = program.stream(first);
    let memory = program.allocate(program.pool(0), stream, 24);
    ok(cu!(program, cuMemsetD8Async, memory, 0, 24, stream));
    let mut host: [u8; 24] = std::array::from_fn(|i| i as u8);
    let pointer: *mut c_void = (&raw mut host).cast();
    // Two slices of two rows of two bytes, from the second row and byte of the host's on.
    let copy = CUDA_MEMCPY3D {
        srcXInBytes: 1,
        srcY: 1,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CU_MEMORYTYPE_HOST,
        srcHost: pointer,
        srcDevice: 0,
        srcArray: CUarray::NULL,
        reserved0: std::ptr::null_mut(),
        srcPitch: 4,
        srcHeight: 3,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: memory,
        dstArray: CUarray::NULL,
        reserved1: std::ptr::null_mut(),
        dstPitch: 5,
        dstHeight: 2,
        WidthInBytes: 2,
        Height: 2,
        Depth: 2,
    };
    ok(cu!(program, cuMemcpy3DAsync, &raw const copy, stream));
    ok(program.sync(stream));
    let back = CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 1,
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: memory,
        srcArray: CUarray::NULL,
        srcPitch: 5,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CU_MEMORYTYPE_HOST,
        dstHost: pointer,
        dstDevice: 0,
        dstArray: CUarray::NULL,
        dstPitch: 3,
        WidthInBytes: 3,
        Height: 3,
    };
    ok(cu!(program, cuMemcpy2DAsync, &raw const back, stream));
    assert_eq!(host[..10], [9, 10, 0, 17, 18, 0, 21, 22, 0, 9]);
    ok(cu!(
        program,
        cuMemsetD2D16Async,
        memory,
        8,
        0x0101,
        1,
        3,
        stream
    ));
    let refused = [
        CUDA_MEMCPY2D {
            srcPitch: 2,
            ..back
        }, // rows overlap
        CUDA_MEMCPY2D {
            dstPitch: 1 << 31,
            ..back
        }, // more than the attribute allows
        CUDA_MEMCPY2D {
            Height: 5,
            srcPitch: 5,
            ..back
        }, // past the end
        CUDA_MEMCPY2D {
            dstHost: std::ptr::null_mut(),
            ..back
        },
        CUDA_MEMCPY2D {
            dstMemoryType: 9,
            ..back
        },
        CUDA_MEMCPY2D {
            srcDevice: memory + 24,
            ..back
        },
    ];
    for copy in refused {
        let refused = cu!(program, cuMemcpy2DAsync, &raw const copy, stream);
        assert_eq!(refused, CUresult::INVALID_VALUE, "{copy:?}");
    }
    let within = |copy: &CUDA_MEMCPY2D| cu!(program, cuMemcpy2DAsync, &raw const *copy, stream);
    assert_eq!(
        program.within(second, || within(&back)),
        CUresult::INVALID_VALUE
    );
    let fill = |pitch, height| {
        cu!(
            program,
            cuMemsetD2D16Async,
            memory,
            pitch,
            0,
            2,
            height,
            stream
        )
    };
    assert_eq!(fill(3, 2), CUresult::INVALID_VALUE, "not aligned");
    assert_eq!(fill(2, 2), CUresult::INVALID_VALUE, "rows overlap");
    assert_eq!(fill(8, 4), CUresult::INVALID_VALUE, "past the end");
    ok(program.sync(stream));
    assert!(program.machine.violations().is_empty());
}

#[test]
fn a_pool_keeps_what_is_freed_until_it_is_trimmed() {
    const PIECE: u64 = 32 << 20;
    let program = patient();
    let stream = program.stream(program.retain(0));
    let pool = program.pool(0);
    let get = |attribute| {
        let mut bytes = u64::MAX;
        ok(cu!(
            program,
            cuMemPoolGetAttribute,
            pool,
            attribute,
            (&raw mut bytes).cast()
        ));
        bytes
    };
    // Reserved, its high mark, used, its high mark.
    let usage = || [5, 6, 7, 8].map(get);
    assert_eq!(usage(), [0; 4]);
    let [a, b] = [PIECE, 8].map(|bytes| program.allocate(pool, stream, bytes as usize));
    assert_eq!(usage(), [2 * PIECE, 2 * PIECE, PIECE + 8, PIECE + 8]);
    ok(cu!(program, cuMemFreeAsync, a, stream));
    assert_eq!(usage(), [2 * PIECE, 2 * PIECE, 8, PIECE + 8]);
    ok(cu!(program, cuMemPoolTrimTo, pool, 2 * PIECE as usize));
    assert_eq!(get(5), 2 * PIECE);
    ok(cu!(program, cuMemPoolTrimTo, pool, 0));
    assert_eq!(usage(), [PIECE, 2 * PIECE, 8, PIECE + 8]);
    let (mut none, mut some) = (0_u64, 1_u64);
    let set = |attribute, value: &mut u64| {
        let value = (&raw mut *value).cast();
        cu!(program, cuMemPoolSetAttribute, pool, attribute, value)
    };
    ok(set(8, &mut none));
    assert_eq!(set(8, &mut some), CUresult::INVALID_VALUE);
    assert_eq!(set(7, &mut none), CUresult::INVALID_VALUE);
    assert_eq!(get(8), 8);
    ok(cu!(program, cuMemFreeAsync, b, stream));
    ok(program.sync(stream));
}
