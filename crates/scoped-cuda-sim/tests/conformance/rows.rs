//! Strided copies and fills: which context they look at, what they refuse, and where they end.
//!
//! Unlike those of the other files these answers were written down before they were measured: from
//! cuda.h, and from what the same questions about copies and fills without strides were answered.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::c_void;
use std::ptr;

/// Like other copies of pool memory.
const NOT_OTHER: [CUresult; 3] = [SUCCESS, INVALID_VALUE, SUCCESS];

/// One side of a copy.
#[derive(Clone, Copy)]
enum End {
    Host(*mut c_void),
    Device(CUdeviceptr),
}

impl End {
    fn fields(self) -> (CUmemorytype, *mut c_void, CUdeviceptr) {
        match self {
            Self::Host(pointer) => (CU_MEMORYTYPE_HOST, pointer, 0),
            Self::Device(address) => (CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address),
        }
    }
}

/// Three rows of two bytes; pitches of 16 and 24 bytes.
fn plane(to: End, from: End) -> CUDA_MEMCPY2D {
    let ((source, from_host, from_device), (destination, to_host, to_device)) =
        (from.fields(), to.fields());
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: source,
        srcHost: from_host,
        srcDevice: from_device,
        srcArray: CUarray::NULL,
        srcPitch: 16,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: destination,
        dstHost: to_host,
        dstDevice: to_device,
        dstArray: CUarray::NULL,
        dstPitch: 24,
        WidthInBytes: 2,
        Height: 3,
    }
}

/// Two slices of that, five and four rows apart.
fn volume(to: End, from: End) -> CUDA_MEMCPY3D {
    let plane = plane(to, from);
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: plane.srcMemoryType,
        srcHost: plane.srcHost,
        srcDevice: plane.srcDevice,
        srcArray: CUarray::NULL,
        reserved0: ptr::null_mut(),
        srcPitch: plane.srcPitch,
        srcHeight: 5,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: plane.dstMemoryType,
        dstHost: plane.dstHost,
        dstDevice: plane.dstDevice,
        dstArray: CUarray::NULL,
        reserved1: ptr::null_mut(),
        dstPitch: plane.dstPitch,
        dstHeight: 4,
        WidthInBytes: plane.WidthInBytes,
        Height: plane.Height,
        Depth: 2,
    }
}

#[test]
fn strided_copies_of_pool_memory_refuse_a_wrong_context() {
    on_sides(|api, sides| {
        let Side { pooled, stream, .. } = sides[0];
        let mut host = [7_u8; 512];
        let host = End::Host((&raw mut host).cast());
        let [first, second] = pooled.map(End::Device);
        for (to, from) in [(first, host), (host, first), (second, first)] {
            let (plane, volume) = (plane(to, from), volume(to, from));
            api.answers(sides, NOT_OTHER, || {
                cu!(api.cuMemcpy2DAsync(&raw const plane, stream))
            });
            api.answers(sides, NOT_OTHER, || {
                cu!(api.cuMemcpy3DAsync(&raw const volume, stream))
            });
        }
        ok(api.sync(stream));
    });
}

#[test]
fn strided_fills_need_no_context() {
    on_sides(|api, sides| {
        let Side { pooled, stream, .. } = sides[0];
        let to = pooled[0];
        api.answers(sides, [SUCCESS; 3], || {
            cu!(api.cuMemsetD2D8Async(to, 16, 1, 4, 4, stream))
        });
        api.answers(sides, [SUCCESS; 3], || {
            cu!(api.cuMemsetD2D16Async(to, 16, 1, 4, 4, stream))
        });
        api.answers(sides, [SUCCESS; 3], || {
            cu!(api.cuMemsetD2D32Async(to, 16, 1, 4, 4, stream))
        });
        ok(api.sync(stream));
    });
}

/// What counts is the last element, not the end of the last pitch.
#[test]
fn rows_may_end_where_the_memory_ends() {
    on_sides(|api, sides| {
        let Side {
            context,
            pooled,
            stream,
            ..
        } = sides[0];
        let end = pooled[0] + BYTES as u64;
        let mut host = [7_u8; 512];
        let host = End::Host((&raw mut host).cast());
        let to_end = plane(End::Device(end - 2 * 24 - 2), host);
        let from_end = plane(End::Device(pooled[1]), End::Device(end - 2 * 16 - 2));
        let slices = volume(End::Device(end - (4 + 2) * 24 - 2), host);
        api.within(context, || {
            ok(cu!(api.cuMemcpy2DAsync(&raw const to_end, stream)));
            ok(cu!(api.cuMemcpy2DAsync(&raw const from_end, stream)));
            ok(cu!(api.cuMemcpy3DAsync(&raw const slices, stream)));
            let to = end - 3 * 16 - 4;
            ok(cu!(api.cuMemsetD2D8Async(to, 16, 1, 4, 4, stream)));
        });
        ok(api.sync(stream));
    });
}

/// On the simulated driver, whatever is under test: the real one crashes on at least one of these.
/// This crate never makes them.
#[test]
fn descriptions_that_cannot_be_are_refused() {
    crate::crashes::on_simulated(&[], |api, side, _| {
        let Side {
            context,
            pooled,
            stream,
            ..
        } = side;
        let mut host = [7_u8; 512];
        let good = plane(End::Device(pooled[0]), End::Host((&raw mut host).cast()));
        let slices = volume(End::Device(pooled[0]), End::Host((&raw mut host).cast()));
        api.within(context, || {
            for (what, copy) in [
                (
                    "rows overlap",
                    CUDA_MEMCPY2D {
                        srcPitch: 1,
                        ..good
                    },
                ),
                (
                    "rows overlap there",
                    CUDA_MEMCPY2D {
                        dstPitch: 1,
                        ..good
                    },
                ),
                (
                    "a long pitch",
                    CUDA_MEMCPY2D {
                        srcPitch: 1 << 31,
                        ..good
                    },
                ),
                (
                    "no memory",
                    CUDA_MEMCPY2D {
                        srcHost: ptr::null(),
                        ..good
                    },
                ),
                (
                    "no memory there",
                    CUDA_MEMCPY2D {
                        dstDevice: 0,
                        ..good
                    },
                ),
                (
                    "no kind",
                    CUDA_MEMCPY2D {
                        srcMemoryType: 9,
                        ..good
                    },
                ),
            ] {
                let answer = cu!(api.cuMemcpy2DAsync(&raw const copy, stream));
                assert_eq!(answer, INVALID_VALUE, "{what}");
            }
            let slices_overlap = CUDA_MEMCPY3D {
                srcHeight: 2,
                ..slices
            };
            let answer = cu!(api.cuMemcpy3DAsync(&raw const slices_overlap, stream));
            assert_eq!(answer, INVALID_VALUE, "slices overlap");
            for nothing in [
                CUDA_MEMCPY2D {
                    WidthInBytes: 0,
                    ..good
                },
                CUDA_MEMCPY2D { Height: 0, ..good },
            ] {
                ok(cu!(api.cuMemcpy2DAsync(&raw const nothing, stream)));
            }
            let misaligned = cu!(api.cuMemsetD2D32Async(pooled[0] + 2, 16, 0, 1, 2, stream));
            let between = cu!(api.cuMemsetD2D32Async(pooled[0], 18, 0, 1, 2, stream));
            assert_eq!([misaligned, between], [INVALID_VALUE; 2]);
        });
        ok(api.sync(stream));
    });
}
