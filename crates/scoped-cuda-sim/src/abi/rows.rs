//! Memory in rows: strided copies and fills.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Outcome, State, call};
use crate::memory::Place;
use crate::registry::{Handle, Named};
use crate::rows::{Shape, Side, Start};
use crate::work::{HostPointer, Work};
use scoped_cuda_sys::*;
use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

/// The longest pitch, in bytes: what the attribute says.
const PITCH_MAX: usize = i32::MAX as usize;

/// One side of a copy, as both descriptions have it.
struct Named3d {
    x: usize,
    y: usize,
    z: usize,
    kind: CUmemorytype,
    host: *mut c_void,
    device: CUdeviceptr,
    pitch: usize,
    slice_rows: usize,
}

pub(super) unsafe extern "C" fn cuMemcpy2DAsync(
    copy: *const CUDA_MEMCPY2D,
    stream: CUstream,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return CUresult::INVALID_VALUE;
    };
    let from = Named3d {
        x: copy.srcXInBytes,
        y: copy.srcY,
        z: 0,
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        pitch: copy.srcPitch,
        slice_rows: 0,
    };
    let to = Named3d {
        x: copy.dstXInBytes,
        y: copy.dstY,
        z: 0,
        kind: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        pitch: copy.dstPitch,
        slice_rows: 0,
    };
    let shape = Shape {
        width: copy.WidthInBytes,
        height: copy.Height,
        depth: 1,
    };
    enqueue("cuMemcpy2DAsync", to, from, shape, stream)
}

pub(super) unsafe extern "C" fn cuMemcpy3DAsync(
    copy: *const CUDA_MEMCPY3D,
    stream: CUstream,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return CUresult::INVALID_VALUE;
    };
    match sides_of(copy) {
        Ok((to, from, shape)) => enqueue("cuMemcpy3DAsync", to, from, shape, stream),
        Err(code) => code,
    }
}

/// Destination, source and shape of a copy.
fn sides_of(copy: &CUDA_MEMCPY3D) -> Outcome<(Named3d, Named3d, Shape)> {
    if !copy.reserved0.is_null() || !copy.reserved1.is_null() {
        return Err(CUresult::INVALID_VALUE);
    }
    let from = Named3d {
        x: copy.srcXInBytes,
        y: copy.srcY,
        z: copy.srcZ,
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        pitch: copy.srcPitch,
        slice_rows: copy.srcHeight,
    };
    let to = Named3d {
        x: copy.dstXInBytes,
        y: copy.dstY,
        z: copy.dstZ,
        kind: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        pitch: copy.dstPitch,
        slice_rows: copy.dstHeight,
    };
    let shape = Shape {
        width: copy.WidthInBytes,
        height: copy.Height,
        depth: copy.Depth,
    };
    Ok((to, from, shape))
}

/// The work of a copy in the order of a graph, by a context's device.
pub(super) fn copy_of(state: &mut State, copy: &CUDA_MEMCPY3D, device: usize) -> Outcome<Work> {
    let (to, from, shape) = sides_of(copy)?;
    if shape.is_empty() {
        return Err(CUresult::INVALID_VALUE);
    }
    let admits = |_: &mut State, place: &Place| match place.allocation.admits(device) {
        true => Ok(()),
        false => Err(CUresult::INVALID_VALUE),
    };
    let to = to.resolve(state, shape, admits)?;
    let from = from.resolve(state, shape, admits)?;
    Ok(Work::CopyRows { to, from, shape })
}

pub(super) unsafe extern "C" fn cuMemcpy3DPeerAsync(
    copy: *const CUDA_MEMCPY3D_PEER,
    stream: CUstream,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return CUresult::INVALID_VALUE;
    };
    let from = Named3d {
        x: copy.srcXInBytes,
        y: copy.srcY,
        z: copy.srcZ,
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        pitch: copy.srcPitch,
        slice_rows: copy.srcHeight,
    };
    let to = Named3d {
        x: copy.dstXInBytes,
        y: copy.dstY,
        z: copy.dstZ,
        kind: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        pitch: copy.dstPitch,
        slice_rows: copy.dstHeight,
    };
    let shape = Shape {
        width: copy.WidthInBytes,
        height: copy.Height,
        depth: copy.Depth,
    };
    let contexts = [copy.dstContext, copy.srcContext];
    let stream = Handle::from_ptr(stream.as_ptr());
    call(
        "cuMemcpy3DPeerAsync",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            let mut devices = [0; 2];
            for (device, context) in devices.iter_mut().zip(contexts) {
                *device = state.device_of(state.context(Handle::from_ptr(context.as_ptr()))?);
            }
            if shape.is_empty() {
                return Ok(());
            }
            // Of the current context it does not depend which memory may be named: that is what the
            // contexts in it are for.
            let [to_device, from_device] = devices;
            let admits = |device| {
                move |_: &mut State, place: &Place| match place.allocation.admits(device) {
                    true => Ok(()),
                    false => Err(CUresult::INVALID_VALUE),
                }
            };
            let to = to.resolve(&mut state, shape, admits(to_device))?;
            let from = from.resolve(&mut state, shape, admits(from_device))?;
            machine.enqueue(&mut state, stream, Work::CopyRows { to, from, shape })?;
            Ok(())
        },
    )
}

fn enqueue(
    name: &'static str,
    to: Named3d,
    from: Named3d,
    shape: Shape,
    stream: CUstream,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    call(name, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        if shape.is_empty() {
            return Ok(());
        }
        let (context, device) = state.home(stream)?;
        let [to, from] = [to, from].map(|side| {
            side.resolve(&mut state, shape, |state, place| {
                state.may_copy(name, Some(device), place)
            })
        });
        let (to, from) = (to?, from?);
        let ends_at_host = matches!(to.start, Start::Host(_));
        let mark = machine.enqueue(&mut state, stream, Work::CopyRows { to, from, shape })?;
        if ends_at_host {
            // To pageable memory, the call is not asynchronous at all.
            machine.wait(state, mark)?.live(context)?;
        }
        Ok(())
    })
}

impl Named3d {
    /// Where the copy starts, as far as the driver checks it when it is called.
    fn resolve(
        self,
        state: &mut State,
        shape: Shape,
        may_touch: impl FnOnce(&mut State, &Place) -> Outcome,
    ) -> Outcome<Side> {
        let fits = |start: usize, len: usize, room: usize| {
            start.checked_add(len).is_some_and(|end| end <= room)
        };
        if self.pitch > PITCH_MAX || !fits(self.x, shape.width, self.pitch) {
            return Err(CUresult::INVALID_VALUE);
        }
        if (shape.depth > 1 || self.z > 0) && !fits(self.y, shape.height, self.slice_rows) {
            return Err(CUresult::INVALID_VALUE);
        }
        let offset = Shape {
            width: self.x,
            height: self.y.saturating_add(1),
            depth: self.z.saturating_add(1),
        }
        .span(self.pitch, self.slice_rows);
        let offset = offset.ok_or(CUresult::INVALID_VALUE)?;
        let start = match self.kind {
            CU_MEMORYTYPE_HOST if self.host.is_null() => return Err(CUresult::INVALID_VALUE),
            CU_MEMORYTYPE_HOST => {
                let first = self.host.cast::<u8>().wrapping_add(offset);
                Start::Host(HostPointer(first.cast()))
            }
            CU_MEMORYTYPE_DEVICE => {
                let span = shape.span(self.pitch, self.slice_rows);
                let address = self.device.checked_add(offset as u64);
                let (Some(span), Some(address)) = (span, address) else {
                    return Err(CUresult::INVALID_VALUE);
                };
                let place = state.place(address, span)?;
                may_touch(state, &place)?;
                Start::Device(place)
            }
            _ => return Err(CUresult::INVALID_VALUE),
        };
        Ok(Side {
            start,
            pitch: self.pitch,
            slice_rows: self.slice_rows,
        })
    }
}

pub(super) unsafe extern "C" fn cuMemsetD2D8Async(
    to: CUdeviceptr,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
    stream: CUstream,
) -> CUresult {
    let pattern = [value];
    fill(
        "cuMemsetD2D8Async",
        to,
        pitch,
        &pattern,
        width,
        height,
        stream,
    )
}

pub(super) unsafe extern "C" fn cuMemsetD2D16Async(
    to: CUdeviceptr,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
    stream: CUstream,
) -> CUresult {
    let pattern = value.to_ne_bytes();
    fill(
        "cuMemsetD2D16Async",
        to,
        pitch,
        &pattern,
        width,
        height,
        stream,
    )
}

pub(super) unsafe extern "C" fn cuMemsetD2D32Async(
    to: CUdeviceptr,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: CUstream,
) -> CUresult {
    let pattern = value.to_ne_bytes();
    fill(
        "cuMemsetD2D32Async",
        to,
        pitch,
        &pattern,
        width,
        height,
        stream,
    )
}

fn fill(
    name: &'static str,
    to: CUdeviceptr,
    pitch: usize,
    pattern: &[u8],
    width: usize,
    height: usize,
    stream: CUstream,
) -> CUresult {
    let stream = Handle::from_ptr(stream.as_ptr());
    call(name, Named::Handle(stream), |machine, mut state| {
        let stream = state.stream(stream)?;
        let shape = Shape {
            width: width
                .checked_mul(pattern.len())
                .ok_or(CUresult::INVALID_VALUE)?,
            height,
            depth: 1,
        };
        if shape.is_empty() {
            return Ok(());
        }
        let (_, device) = state.home(stream)?;
        let is_aligned = (to | pitch as u64) % pattern.len() as u64 == 0;
        let span = shape.span(pitch, 0).ok_or(CUresult::INVALID_VALUE)?;
        let to = state.place(to, span)?;
        let is_pitch = (shape.width..=PITCH_MAX).contains(&pitch);
        if !is_aligned || !is_pitch || to.allocation.device != device {
            return Err(CUresult::INVALID_VALUE);
        }
        let to = Side {
            start: Start::Device(to),
            pitch,
            slice_rows: 0,
        };
        let pattern = pattern.to_vec();
        machine.enqueue(&mut state, stream, Work::FillRows { to, pattern, shape })?;
        Ok(())
    })
}
