//! Device memory at rest.

#![allow(unsafe_code)] // frees and copies device memory

use super::slice::{Slice, SliceMut};
use super::{Element, Fill, Memory, MemoryMut, resolve, sealed, size_of_elements};
use super::{LentSlice, OnStream};
use crate::context::Context;
use crate::error::{CloseError, Result};
use crate::ffi::{CUdeviceptr, CUstream};
use crate::internal::at_rest::complete;
use crate::internal::wait::HostUse;
use crate::memory::all;
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ops::RangeBounds;

/// An owned piece of device memory: `len` elements of plain data.
///
/// Outside scopes it is *at rest*: nothing is pending on it, and its operations are complete when
/// they return. Inside a scope, [`Buffer::lend`](crate::Buffer::lend) puts it into the order of a
/// stream, and until the scope has waited the borrow checker keeps everybody else away.
///
/// Dropping it frees the memory (`cuMemFreeAsync`). Forgetting it leaks the memory and nothing
/// else.
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let mut buffer = ctx.upload(&[1u32, 2, 3, 4])?;
/// buffer.slice_mut(1..3)?.write(&[20, 30])?;
/// assert_eq!(buffer.to_vec()?, [1, 20, 30, 4]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct Buffer<'ctx, T> {
    context: Context<'ctx>,
    address: CUdeviceptr,
    len: usize,
    /// The stream after whose work the memory may be freed: the service stream at rest, the owning
    /// stream inside a scope.
    free_on: CUstream,
    _elements: PhantomData<T>,
}

/// A buffer that was allocated in a scope: what [`ScopedStream::zeros`](crate::ScopedStream::zeros)
/// and [`upload`](crate::ScopedStream::upload) return.
pub type ScopedBuffer<'s, 'ctx, T> = OnStream<'s, Buffer<'ctx, T>>;

static_assertions::assert_impl_all!(Buffer<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(Buffer<'static, f32>: Clone);

impl<'ctx, T: Pod> Buffer<'ctx, T> {
    pub(crate) fn zeros(context: Context<'ctx>, len: usize) -> Result<Self> {
        let mut buffer = Self::allocate(context, len, context.state().service())?;
        buffer.as_mut_slice().set_zero()?;
        Ok(buffer)
    }

    pub(crate) fn filled(context: Context<'ctx>, len: usize, value: T) -> Result<Self> {
        let mut buffer = Self::allocate(context, len, context.state().service())?;
        if !buffer.as_mut_slice().try_fill(value)? {
            buffer.write(&all(value, len))?;
        }
        Ok(buffer)
    }

    pub(crate) fn upload(context: Context<'ctx>, host: &[T]) -> Result<Self> {
        let mut buffer = Self::allocate(context, host.len(), context.state().service())?;
        buffer.write(host)?;
        Ok(buffer)
    }

    /// A copy in host memory (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "clone_dtoh")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut host = all(T::zeroed(), self.len);
        self.read(&mut host)?;
        Ok(host)
    }

    /// Copies all elements to `host`, which must have as many (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "memcpy_dtoh")]
    pub fn read(&self, host: &mut [T]) -> Result<()> {
        self.as_slice().read(host)
    }

    /// Overwrites all elements with the elements of `host`, which must have as many
    /// (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "memcpy_htod")]
    pub fn write(&mut self, host: &[T]) -> Result<()> {
        self.as_mut_slice().write(host)
    }

    /// Overwrites all elements with the elements of `source`, memory of the same context and length
    /// (`cuMemcpyDtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemcpyDtoDAsync")]
    pub fn copy_from(&mut self, source: &impl Memory<'ctx, T>) -> Result<()> {
        self.as_mut_slice().copy_from(source)
    }
}

impl<'ctx, T: Pod> Buffer<'ctx, T> {
    /// Memory of its own with a copy of the elements, made on the device (`cuMemcpyDtoDAsync`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let first = ctx.upload(&[1u8, 2, 3])?;
    /// let mut second = first.try_clone()?;
    /// second.set_zero()?;
    /// assert_eq!((first.to_vec()?, second.to_vec()?), (vec![1, 2, 3], vec![0; 3]));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "clone_dtod")]
    #[doc(alias = "cuMemcpyDtoDAsync")]
    pub fn try_clone(&self) -> Result<Self> {
        let mut copy = Self::allocate(self.context, self.len, self.context.state().service())?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Sets every byte to zero (`cuMemsetD8Async`). All bytes zero are a value of any element type.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "memset_zeros")]
    #[doc(alias = "cuMemsetD8Async")]
    pub fn set_zero(&mut self) -> Result<()> {
        self.as_mut_slice().set_zero()
    }

    /// Sets every element to `value` (`cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemsetD16Async")]
    #[doc(alias = "cuMemsetD32Async")]
    pub fn fill(&mut self, value: T) -> Result<()>
    where
        T: Fill,
    {
        self.as_mut_slice().fill(value)
    }
}

impl<'ctx, T: Pod> Buffer<'ctx, MaybeUninit<T>> {
    pub(crate) fn uninit(context: Context<'ctx>, len: usize) -> Result<Self> {
        let buffer = Self::allocate(context, len, context.state().service())?;
        // Allocation is an operation of the service stream; other streams may use the memory when
        // it has happened.
        complete(context.state(), HostUse::None, |_| Ok(()))?;
        Ok(buffer)
    }

    /// The same memory, now said to hold values.
    ///
    /// # Safety
    /// Nothing reads an element before something has written it: no copy and no kernel. Every bit
    /// pattern is a valid `T`, so what is read otherwise is not undefined; it is left from an
    /// earlier allocation, or from another process.
    #[must_use]
    pub unsafe fn assume_init(self) -> Buffer<'ctx, T> {
        let Self {
            context,
            address,
            len,
            free_on,
            ..
        } = self;
        mem::forget(self);
        Buffer {
            context,
            address,
            len,
            free_on,
            _elements: PhantomData,
        }
    }
}

impl<'ctx, T> Buffer<'ctx, T> {
    /// Memory that may be used on `stream`, of the context, and is freed in its order. The content
    /// is undefined.
    pub(crate) fn allocate(context: Context<'ctx>, len: usize, stream: CUstream) -> Result<Self> {
        let bytes = size_of_elements::<T>(len)?;
        let address = context.state().allocate(bytes, stream)?;
        Ok(Self {
            context,
            address,
            len,
            free_on: stream,
            _elements: PhantomData,
        })
    }

    /// The context whose device has the memory.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address; 0 for an empty buffer.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// All elements, to read.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_, 'ctx, T> {
        Slice::new(self.context, self.address, self.len)
    }

    /// All elements, to write.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> SliceMut<'_, 'ctx, T> {
        SliceMut::new(self.context, self.address, self.len)
    }

    /// The elements of `range`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, 'ctx, T>> {
        self.as_slice().slice(range)
    }

    /// The elements of `range`, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, 'ctx, T>> {
        let (start, len) = resolve(range, self.len)?;
        Ok(SliceMut::new(
            self.context,
            self.address + (start * size_of::<T>()) as u64,
            len,
        ))
    }

    /// The elements before `middle` and those from it on, to write. Each may go to another stream.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    pub fn split_at_mut(
        &mut self,
        middle: usize,
    ) -> Result<(SliceMut<'_, 'ctx, T>, SliceMut<'_, 'ctx, T>)> {
        self.as_mut_slice().split_at_mut(middle)
    }

    /// Frees the memory and says whether that worked; after an error the buffer is handed back
    /// (`cuMemFreeAsync`).
    ///
    /// # Errors
    /// [`CloseError`] with the buffer and what the driver returned.
    #[doc(alias = "cuMemFreeAsync")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        let state = self.context.state();
        let closed = match self.address {
            0 => Ok(()),
            // SAFETY: owned, and at rest or ordered on `free_on` (C6).
            address => unsafe { state.free(address, self.size_bytes(), self.free_on) },
        };
        match closed {
            Ok(()) => {
                mem::forget(self);
                Ok(())
            }
            Err(error) => Err(CloseError::new(self, error)),
        }
    }

    /// Makes `stream` the one after whose work the memory is freed.
    pub(crate) fn free_on(&mut self, stream: CUstream) {
        self.free_on = stream;
    }
}

impl<'scope, 'ctx, T> Buffer<'ctx, T> {
    /// Puts the memory into the order of `stream` until the end of the scope. No driver call.
    ///
    /// The host, and other streams, have it back when the scope has waited.
    #[must_use]
    pub fn lend<'s>(
        &'scope mut self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
    ) -> LentSlice<'s, 'scope, 'ctx, T> {
        OnStream::new(self.as_mut_slice(), stream.brand())
    }

    /// Moves the memory into the order of `stream`, as if it had been allocated there. No driver
    /// call.
    ///
    /// Dropped in the scope, it is freed in the order of the stream, without a wait;
    /// [`release`](OnStream::release) takes it out again. For memory that is not there any more
    /// when a long scope ends, and for memory that work which is [submitted](crate::Stream::submit)
    /// consumes.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let (mut pool, mut sum) = (vec![ctx.filled(3, 1u32)?, ctx.filled(3, 2)?], ctx.zeros::<u32>(3)?);
    /// let kept = stream.scope(|s| {
    ///     let mut sum = sum.lend(s);
    ///     while let Some(part) = pool.pop() {
    ///         let part = part.give(s);
    ///         s.copy(&part, &mut sum)?;
    ///     } // freed behind its copy
    ///     s.zeros::<u8>(1)?.release(s)
    /// })?;
    /// assert_eq!((sum.to_vec()?, kept.len()), (vec![1; 3], 1));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use = "dropped, it is freed"]
    pub fn give<'s>(mut self, stream: ScopedStream<'s, 'scope, 'ctx>) -> OnStream<'s, Self> {
        // Nothing is pending on it: it is at rest.
        self.free_on(stream.stream().as_raw());
        OnStream::new(self, stream.brand())
    }
}

impl<T> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        if self.address != 0 {
            let state = self.context.state();
            // SAFETY: owned, and at rest or ordered on `free_on` (C6).
            state.free_quietly(|| unsafe {
                state.free(self.address, self.size_bytes(), self.free_on)
            });
        }
    }
}

impl<T> sealed::Near for Buffer<'_, T> {}
impl<T> sealed::Sealed for Buffer<'_, T> {}
impl<T> sealed::SealedFor<T> for Buffer<'_, T> {}
impl<T> sealed::SealedFor<T, sealed::Writing> for Buffer<'_, T> {}

impl<'ctx, T> Memory<'ctx, T> for Buffer<'ctx, T> {
    fn context(&self) -> Context<'ctx> {
        self.context
    }

    fn len(&self) -> usize {
        self.len
    }

    fn as_raw(&self) -> CUdeviceptr {
        self.address
    }
}

impl<'ctx, T> MemoryMut<'ctx, T> for Buffer<'ctx, T> {}

impl<T> fmt::Debug for Buffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().describe("Buffer", f)
    }
}

impl<'ctx> Context<'ctx> {
    /// Device memory for `len` elements, all bytes zero; at rest when it returns
    /// (`cuMemAllocFromPoolAsync`, `cuMemsetD8Async`).
    ///
    /// `len` may be 0: that makes no driver call.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "alloc_zeros")]
    pub fn zeros<T: Element>(self, len: usize) -> Result<Buffer<'ctx, T>> {
        Buffer::zeros(self, len)
    }

    /// Device memory for `len` elements, each `value`; at rest when it returns.
    ///
    /// Elements of 1, 2 and 4 bytes are written by the device (`cuMemsetD8Async`,
    /// `cuMemsetD16Async`, `cuMemsetD32Async`), others are uploaded.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    pub fn filled<T: Element>(self, len: usize, value: T) -> Result<Buffer<'ctx, T>> {
        Buffer::filled(self, len, value)
    }

    /// Device memory with a copy of `host`; at rest when it returns (`cuMemcpyHtoDAsync` on the
    /// context's own stream, which is waited for).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "clone_htod")]
    pub fn upload<T: Element>(self, host: &[T]) -> Result<Buffer<'ctx, T>> {
        Buffer::upload(self, host)
    }

    /// Device memory for `len` elements whose content is whatever was there before.
    ///
    /// The element type says so: a `Buffer<MaybeUninit<T>>` cannot be read. See
    /// [`Buffer::assume_init`].
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    pub fn uninit<T: Element>(self, len: usize) -> Result<Buffer<'ctx, MaybeUninit<T>>> {
        Buffer::uninit(self, len)
    }
}
