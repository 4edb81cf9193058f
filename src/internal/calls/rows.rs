//! Memory in rows: copies and fills whose rows lie a pitch apart.

#![allow(unsafe_code)] // makes driver calls

use crate::error::Result;
use crate::ffi::*;
use crate::internal::api::Api;

/// # Safety
/// Each side has the rows that `copy` describes, in memory of the kind that it says, device memory
/// on the stream's device; they stay so, and those of the source unchanged, until `stream` has
/// passed this point. The sides do not overlap, `stream` is live and nothing else touches the
/// destination's rows in the meantime.
pub(crate) unsafe fn memcpy_2d_async(
    driver: Api,
    copy: &CUDA_MEMCPY2D,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: what `memcpy_2d_async` asks of its caller; the description is read during the call.
    driver.call("cuMemcpy2DAsync", |s| unsafe {
        (s.cuMemcpy2DAsync)(copy, stream)
    })
}

/// # Safety
/// As [`memcpy_2d_async`], for each slice.
pub(crate) unsafe fn memcpy_3d_async(
    driver: Api,
    copy: &CUDA_MEMCPY3D,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memcpy_2d_async` asks for, for each slice; the description
    // is read during the call.
    driver.call("cuMemcpy3DAsync", |s| unsafe {
        (s.cuMemcpy3DAsync)(copy, stream)
    })
}

/// # Safety
/// As [`memcpy_3d_async`]; each side is device memory, and its context is live and the one whose
/// device has it.
pub(crate) unsafe fn memcpy_3d_peer_async(
    driver: Api,
    copy: &CUDA_MEMCPY3D_PEER,
    stream: CUstream,
) -> Result<()> {
    // SAFETY: the caller promises what `memcpy_3d_async` asks for; each side is device memory, and
    // its context is live and the one whose device has it; the description is read during the call.
    driver.call("cuMemcpy3DPeerAsync", |s| unsafe {
        (s.cuMemcpy3DPeerAsync)(copy, stream)
    })
}

/// Rows in device memory.
#[derive(Clone, Copy)]
pub(crate) struct FillRows {
    pub(crate) to: CUdeviceptr,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// Elements of a row, in the width of the fill.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// # Safety
/// The rows are allocated on the device of `stream`, which is live, until it has passed this point,
/// and nothing else touches them.
pub(crate) unsafe fn memset_d2d8_async(
    driver: Api,
    rows: FillRows,
    value: u8,
    stream: CUstream,
) -> Result<()> {
    let FillRows {
        to,
        pitch,
        width,
        height,
    } = rows;
    // SAFETY: the caller promises: the rows are allocated on the device of `stream`, which is live,
    // until it has passed this point, and nothing else touches them.
    driver.call("cuMemsetD2D8Async", |s| unsafe {
        (s.cuMemsetD2D8Async)(to, pitch, value, width, height, stream)
    })
}

/// # Safety
/// As [`memset_d2d8_async`], for elements of 2 bytes; address and pitch are multiples of 2.
pub(crate) unsafe fn memset_d2d16_async(
    driver: Api,
    rows: FillRows,
    value: u16,
    stream: CUstream,
) -> Result<()> {
    let FillRows {
        to,
        pitch,
        width,
        height,
    } = rows;
    // SAFETY: the caller promises what `memset_d2d8_async` asks for, for elements of 2 bytes;
    // address and pitch are multiples of 2.
    driver.call("cuMemsetD2D16Async", |s| unsafe {
        (s.cuMemsetD2D16Async)(to, pitch, value, width, height, stream)
    })
}

/// # Safety
/// As [`memset_d2d8_async`], for elements of 4 bytes; address and pitch are multiples of 4.
pub(crate) unsafe fn memset_d2d32_async(
    driver: Api,
    rows: FillRows,
    value: u32,
    stream: CUstream,
) -> Result<()> {
    let FillRows {
        to,
        pitch,
        width,
        height,
    } = rows;
    // SAFETY: the caller promises what `memset_d2d8_async` asks for, for elements of 4 bytes;
    // address and pitch are multiples of 4.
    driver.call("cuMemsetD2D32Async", |s| unsafe {
        (s.cuMemsetD2D32Async)(to, pitch, value, width, height, stream)
    })
}
