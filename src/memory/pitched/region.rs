//! Where the rows of a box are, and the driver calls that copy and fill them.

#![allow(unsafe_code)] // copies and fills device memory

use crate::attribute::Attribute;
use crate::error::{Error, Result};
use crate::extent::{Axis, Extent};
use crate::ffi::*;
use crate::internal::calls::{self, FillRows};
use crate::internal::context_handle::ContextHandle;
use crate::internal::current;
use crate::memory::{Pattern, resolve};
use std::ffi::c_void;
use std::ops::{Bound, RangeBounds};
use std::ptr;

/// Rows start at multiples of this many bytes from the first: a multiple of the 128 bytes of a
/// cache line, so that the threads of a warp that read a row from its start touch as few lines as
/// possible, of every alignment that a device asks of the rows of a texture, and what
/// `cuMemAllocPitch` gives on every device of the last ten years. It is a constant because asking
/// the device would be a driver call for each allocation.
pub(crate) const PITCH_ALIGNMENT: usize = 512;

/// A box of elements in device memory. It does not say of which type: `T` in its methods is the
/// same one throughout the box's life.
///
/// Either it has no bytes, then the address is 0 and the pitch means nothing, or the element at x,
/// y, z is `x * size_of::<T>() + (z * slice_rows + y) * pitch` bytes after the address, for each x,
/// y, z in the extent; no two of these share a byte and all are in one allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub(crate) address: CUdeviceptr,
    pub(crate) extent: Extent,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// Rows from one slice to the next.
    pub(crate) slice_rows: usize,
}

impl Region {
    /// Pitch and size in bytes of memory for `extent` elements; both 0 when there is nothing to
    /// allocate.
    pub(crate) fn plan<T>(extent: Extent) -> Result<(usize, usize)> {
        let len = extent.len::<T>()?;
        if len * size_of::<T>() == 0 {
            return Ok((0, 0));
        }
        let overflow = Error::SizeOverflow {
            len,
            element_bytes: size_of::<T>(),
        };
        // Neither product can wrap: they are at most the bytes of all elements.
        let (row_bytes, rows) = (extent.width * size_of::<T>(), extent.rows());
        let pitch = row_bytes.next_multiple_of(PITCH_ALIGNMENT);
        match pitch.checked_mul(rows) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok((pitch, bytes)),
            _ => Err(overflow),
        }
    }

    /// Whether there is nothing to copy or fill.
    pub(crate) fn is_empty<T>(&self) -> bool {
        self.extent.is_empty() || size_of::<T>() == 0
    }

    /// Elements from one row to the next, when that is a whole number.
    pub(crate) fn pitch_elements<T>(&self) -> Option<usize> {
        let rest = self.pitch.checked_rem(size_of::<T>())?;
        (rest == 0).then(|| self.pitch / size_of::<T>())
    }

    /// Whether the device copies between these rows, whose pitch was checked when they were
    /// allocated, and those of host memory.
    pub(crate) fn check_other_pitch(&self, context: &ContextHandle, host: Side) -> Result<()> {
        match host.pitch <= self.pitch {
            true => Ok(()),
            false => check_pitch(context, host.pitch),
        }
    }

    /// The part of the box within the ranges.
    pub(crate) fn part<T>(
        self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<Self> {
        let (x, width) = resolve(x, self.extent.width)?;
        let (y, height) = resolve(y, self.extent.height)?;
        let (z, depth) = resolve(z, self.extent.depth)?;
        let part = Self {
            extent: Extent {
                width,
                height,
                depth,
            },
            ..self
        };
        if part.is_empty::<T>() {
            return Ok(Self { address: 0, ..part });
        }
        // The first element of a box with bytes: an offset within the allocation, which does not
        // wrap.
        let offset = (z * self.slice_rows + y) * self.pitch + x * size_of::<T>();
        Ok(Self {
            address: self.address + offset as u64,
            ..part
        })
    }

    /// The parts before `middle` and from it on: no element is in both.
    pub(crate) fn split<T>(self, axis: Axis, middle: usize) -> Result<(Self, Self)> {
        let (before, after) = (
            (Bound::Unbounded, Bound::Excluded(middle)),
            (Bound::Included(middle), Bound::Unbounded),
        );
        let [head, tail] = [before, after].map(|range| match axis {
            Axis::X => self.part::<T>(range, .., ..),
            Axis::Y => self.part::<T>(.., range, ..),
            Axis::Z => self.part::<T>(.., .., range),
        });
        // The tail's error first: it names `middle` as the start.
        let tail = tail?;
        Ok((head?, tail))
    }

    pub(crate) fn side(&self) -> Side {
        Side {
            start: Start::Device(self.address),
            pitch: self.pitch,
            slice_rows: self.slice_rows,
        }
    }

    /// Sets each element (`cuMemsetD2D8Async`, `D16` or `D32`): one call when no other rows lie
    /// between the slices, else one for each.
    ///
    /// # Safety
    /// The box has bytes, elements of the pattern's size, and is on the context's device, until
    /// `stream`, a live stream of it, has passed this point; nothing else touches it.
    pub(crate) unsafe fn fill(
        self,
        context: &ContextHandle,
        pattern: Pattern,
        stream: CUstream,
    ) -> Result<()> {
        let is_whole = self.slice_rows == self.extent.height;
        let (calls, height) = match is_whole {
            true => (1, self.extent.rows()),
            false => (self.extent.depth, self.extent.height),
        };
        for slice in 0..calls {
            let rows = FillRows {
                to: self.address + (slice * self.slice_rows * self.pitch) as u64,
                pitch: self.pitch,
                width: self.extent.width,
                height,
            };
            let driver = context.api();
            current::bind(context, || match pattern {
                // SAFETY: the caller's promise, for the rows of a slice or, when they follow each
                // other, of all.
                Pattern::D8(value) => unsafe {
                    calls::memset_d2d8_async(driver, rows, value, stream)
                },
                // SAFETY: as above. Rows start at multiples of the element's size: the pitch is one
                // of 512, the allocation's start of 256.
                Pattern::D16(value) => unsafe {
                    calls::memset_d2d16_async(driver, rows, value, stream)
                },
                // SAFETY: as above.
                Pattern::D32(value) => unsafe {
                    calls::memset_d2d32_async(driver, rows, value, stream)
                },
            })?;
        }
        Ok(())
    }
}

/// One side of a copy: where its first row starts and how far apart rows and slices are.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) start: Start,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// Rows from one slice to the next.
    pub(crate) slice_rows: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// Written when it is the destination of a copy.
    Host(*mut c_void),
    Device(CUdeviceptr),
}

impl Start {
    /// The fields of a description: kind, host pointer, device address.
    fn fields(self) -> (CUmemorytype, *mut c_void, CUdeviceptr) {
        match self {
            Self::Host(pointer) => (CU_MEMORYTYPE_HOST, pointer, 0),
            Self::Device(address) => (CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address),
        }
    }
}

/// Copies the elements of a box of `extent` elements of type `T`, which has bytes, and no byte that
/// lies between rows (`cuMemcpy2DAsync` for one slice, `cuMemcpy3DAsync` for more).
///
/// # Safety
/// Both sides have the rows, device memory on the context's device; they stay so, and those of the
/// source unchanged, until `stream`, a live stream of the device, has passed this point. No element
/// of one side is on the other, and nothing else touches the destination's elements in the
/// meantime.
pub(crate) unsafe fn copy<T>(
    context: &ContextHandle,
    to: Side,
    from: Side,
    extent: Extent,
    stream: CUstream,
) -> Result<()> {
    let width = extent.width * size_of::<T>();
    let (source, from_host, from_device) = from.start.fields();
    let (destination, to_host, to_device) = to.start.fields();
    if extent.depth == 1 {
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: source,
            srcHost: from_host,
            srcDevice: from_device,
            srcArray: CUarray::NULL,
            srcPitch: from.pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: destination,
            dstHost: to_host,
            dstDevice: to_device,
            dstArray: CUarray::NULL,
            dstPitch: to.pitch,
            WidthInBytes: width,
            Height: extent.height,
        };
        // SAFETY: what `copy` asks of its caller; the description says the same.
        return current::bind(context, || unsafe {
            calls::memcpy_2d_async(context.api(), &copy, stream)
        });
    }
    let copy = CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: source,
        srcHost: from_host,
        srcDevice: from_device,
        srcArray: CUarray::NULL,
        reserved0: ptr::null_mut(),
        srcPitch: from.pitch,
        srcHeight: from.slice_rows,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: destination,
        dstHost: to_host,
        dstDevice: to_device,
        dstArray: CUarray::NULL,
        reserved1: ptr::null_mut(),
        dstPitch: to.pitch,
        dstHeight: to.slice_rows,
        WidthInBytes: width,
        Height: extent.height,
        Depth: extent.depth,
    };
    // SAFETY: what `copy` asks of its caller; the description says the same.
    current::bind(context, || unsafe {
        calls::memcpy_3d_async(context.api(), &copy, stream)
    })
}

/// One end of a copy between contexts.
pub(crate) struct End {
    /// The one whose device has the rows.
    pub(crate) context: CUcontext,
    pub(crate) region: Region,
}

/// Copies the elements of a box of elements of type `T`, which has bytes, to a box of the same
/// extent, and no byte that lies between rows (`cuMemcpy3DPeerAsync`).
///
/// # Safety
/// As [`copy`], with each side on the device of its context, which is live. `context` is one of the
/// two.
pub(crate) unsafe fn copy_between<T>(
    context: &ContextHandle,
    to: End,
    from: End,
    stream: CUstream,
) -> Result<()> {
    let extent = from.region.extent;
    let copy = CUDA_MEMCPY3D_PEER {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: from.region.address,
        srcArray: CUarray::NULL,
        srcContext: from.context,
        srcPitch: from.region.pitch,
        srcHeight: from.region.slice_rows,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: to.region.address,
        dstArray: CUarray::NULL,
        dstContext: to.context,
        dstPitch: to.region.pitch,
        dstHeight: to.region.slice_rows,
        WidthInBytes: extent.width * size_of::<T>(),
        Height: extent.height,
        Depth: extent.depth,
    };
    // SAFETY: the caller promises what `copy` asks for, with each side on the device of its
    // context, which is live. `context` is one of the two; the description says the same.
    current::bind(context, || unsafe {
        calls::memcpy_3d_peer_async(context.api(), &copy, stream)
    })
}

/// Whether the device copies rows that are `pitch` bytes apart (`cuDeviceGetAttribute`).
pub(crate) fn check_pitch(context: &ContextHandle, pitch: usize) -> Result<()> {
    let limit = context.device().attribute(Attribute::MaxPitch)?;
    let limit = usize::try_from(limit).unwrap_or(0);
    if pitch <= limit {
        Ok(())
    } else {
        Err(Error::PitchTooLarge {
            bytes: pitch,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Extent = Extent::new(5, 4).slices(3);

    fn region() -> Region {
        let (pitch, _) = Region::plan::<u32>(BOX).unwrap();
        Region {
            address: 0x1000,
            extent: BOX,
            pitch,
            slice_rows: BOX.height,
        }
    }

    #[test]
    fn sizes_are_checked_where_they_wrap() {
        assert_eq!(Region::plan::<u32>(BOX), Ok((512, 512 * 12)));
        assert_eq!(Region::plan::<u8>(Extent::new(513, 1)), Ok((1024, 1024)));
        assert_eq!(Region::plan::<u8>(Extent::new(0, usize::MAX)), Ok((0, 0)));
        assert_eq!(Region::plan::<[u8; 0]>(Extent::new(9, 9)), Ok((0, 0)));
        let overflow = |len, element_bytes| Err(Error::SizeOverflow { len, element_bytes });
        let huge = 1 << 40;
        let many = Extent::new(huge, huge);
        assert_eq!(Region::plan::<u32>(many), overflow(usize::MAX, 4));
        assert_eq!(Region::plan::<()>(many), overflow(usize::MAX, 0));
        // The elements would fit, the rows do not.
        let narrow = Extent::new(1, 1 << 60);
        assert_eq!(Region::plan::<u8>(narrow), overflow(1 << 60, 1));
        let wide = Extent::new(isize::MAX as usize, 1);
        assert_eq!(Region::plan::<u8>(wide), overflow(wide.width, 1));
    }

    #[test]
    fn parts_start_at_their_first_element() {
        let part = region().part::<u32>(1..4, 2.., 1..=2).unwrap();
        assert_eq!(part.address, 0x1000 + (4 + 2) * 512 + 4);
        assert_eq!(part.extent, Extent::new(3, 2).slices(2));
        let inner = part.part::<u32>(2.., 1.., 1..).unwrap();
        assert_eq!(inner.address, 0x1000 + (8 + 3) * 512 + 12);
        assert_eq!(inner.extent, Extent::new(1, 1));
        let out = |start, end, len| Err(Error::OutOfRange { start, end, len });
        assert_eq!(region().part::<u32>(..6, .., ..), out(0, 6, 5));
        assert_eq!(region().part::<u32>(.., 5.., ..), out(5, 4, 4));
        assert_eq!(region().part::<u32>(.., .., 3..=3), out(3, 4, 3));
    }

    #[test]
    fn halves_have_each_element_once() {
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            let (head, tail) = region().split::<u32>(axis, 2).unwrap();
            let mut elements = addresses(head);
            elements.extend(addresses(tail));
            elements.sort_unstable();
            assert_eq!(elements, addresses(region()), "{axis:?}");
        }
        let (head, tail) = region().split::<u32>(Axis::X, 5).unwrap();
        assert_eq!((head, tail.address), (region(), 0));
        assert!(region().split::<u32>(Axis::Z, 4).is_err());
    }

    fn addresses(region: Region) -> Vec<u64> {
        let mut addresses = Vec::new();
        for z in 0..region.extent.depth {
            for y in 0..region.extent.height {
                for x in 0..region.extent.width {
                    let offset = (z * region.slice_rows + y) * region.pitch + x * 4;
                    addresses.push(region.address + offset as u64);
                }
            }
        }
        addresses
    }
}
