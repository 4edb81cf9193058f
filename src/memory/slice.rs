//! Views of device memory at rest.

#![allow(unsafe_code)] // copies and fills device memory

use super::OnStream;
use super::fill::{Fill, Pattern};
use super::{Memory, MemoryMut, resolve, same_len, sealed};
use crate::context::Context;
use crate::error::Result;
use crate::ffi::CUdeviceptr;
use crate::internal::at_rest::complete;
use crate::internal::calls;
use crate::internal::current;
use crate::internal::wait::HostUse;
use crate::memory::all;
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// A borrowed part of a [`Buffer`](crate::Buffer) that is only read. `Copy`, like `&[T]`.
pub struct Slice<'b, 'ctx, T> {
    context: Context<'ctx>,
    address: CUdeviceptr,
    len: usize,
    _borrow: PhantomData<&'b [T]>,
}

/// A borrowed part of a [`Buffer`](crate::Buffer) that may be written, like `&mut [T]`.
pub struct SliceMut<'b, 'ctx, T> {
    context: Context<'ctx>,
    address: CUdeviceptr,
    len: usize,
    _borrow: PhantomData<&'b mut [T]>,
}

/// Memory that was lent to a stream until the end of the scope: what
/// [`Buffer::lend`](crate::Buffer::lend) and the other `lend`s return.
pub type LentSlice<'s, 'scope, 'ctx, T> = OnStream<'s, SliceMut<'scope, 'ctx, T>>;

static_assertions::assert_impl_all!(Slice<'static, 'static, f32>: Copy, Send, Sync, std::panic::UnwindSafe);
static_assertions::assert_impl_all!(SliceMut<'static, 'static, f32>: Send, Sync, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(SliceMut<'static, 'static, f32>: Clone);

impl<'b, 'ctx, T> Slice<'b, 'ctx, T> {
    /// `len` elements at `address` are allocated on the context's device and borrowed for `'b`.
    pub(crate) fn new(context: Context<'ctx>, address: CUdeviceptr, len: usize) -> Self {
        Self {
            context,
            address,
            len,
            _borrow: PhantomData,
        }
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

    /// The context whose device has the memory.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address as a number; 0 for empty memory. Only a kernel can do something with it.
    #[doc(alias = "device_ptr")]
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The elements of `range`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let (start, len) = resolve(range, self.len)?;
        Ok(Self::new(
            self.context,
            self.address + (start * size_of::<T>()) as u64,
            len,
        ))
    }

    /// The elements before `middle` and those from it on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    pub fn split_at(self, middle: usize) -> Result<(Self, Self)> {
        Ok((self.slice(..middle)?, self.slice(middle..)?))
    }

    pub(crate) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.context.device().ordinal();
        write!(
            f,
            "{name}(device {device}, {} x {}, {:#x})",
            self.len,
            type_name::<T>(),
            self.address
        )
    }
}

impl<T: Pod> Slice<'_, '_, T> {
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
    pub fn to_vec(self) -> Result<Vec<T>> {
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
    pub fn read(self, host: &mut [T]) -> Result<()> {
        same_len(self.len, host.len())?;
        let bytes = size_of_val(host);
        if bytes == 0 {
            return Ok(());
        }
        let (state, to) = (self.context.state(), host.as_mut_ptr().cast());
        complete(state, HostUse::Lent, |stream| {
            // SAFETY: both sides have `bytes`, any bits are a valid `T` (`Pod`), and both are
            // borrowed until `complete` returns, which is after the wait (C5, C6).
            current::bind(state, || unsafe {
                calls::memcpy_dtoh_async(state.api(), to, self.address, bytes, stream)
            })
        })
    }
}

impl<'b, 'ctx, T> SliceMut<'b, 'ctx, T> {
    /// `len` elements at `address` are allocated on the context's device and mutably borrowed for
    /// `'b`.
    pub(crate) fn new(context: Context<'ctx>, address: CUdeviceptr, len: usize) -> Self {
        Self {
            context,
            address,
            len,
            _borrow: PhantomData,
        }
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

    /// The context whose device has the memory.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address as a number; 0 for empty memory. Only a kernel can do something with it.
    #[doc(alias = "device_ptr")]
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The same elements for a shorter time, to read.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_, 'ctx, T> {
        Slice::new(self.context, self.address, self.len)
    }

    /// The same elements for a shorter time, to write.
    #[must_use]
    pub fn reborrow(&mut self) -> SliceMut<'_, 'ctx, T> {
        SliceMut::new(self.context, self.address, self.len)
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

    /// The elements before `middle` and those from it on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    pub fn split_at_mut(
        self,
        middle: usize,
    ) -> Result<(SliceMut<'b, 'ctx, T>, SliceMut<'b, 'ctx, T>)> {
        let (_, tail) = resolve(middle.., self.len)?;
        let tail_address = self.address + (middle * size_of::<T>()) as u64;
        Ok((
            Self::new(self.context, self.address, middle),
            Self::new(self.context, tail_address, tail),
        ))
    }
}

impl<'ctx, T: Pod> SliceMut<'_, 'ctx, T> {
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
        same_len(host.len(), self.len)?;
        let bytes = size_of_val(host);
        if bytes == 0 {
            return Ok(());
        }
        let (state, from) = (self.context.state(), host.as_ptr().cast());
        complete(state, HostUse::Lent, |stream| {
            // SAFETY: both sides have `bytes` and are borrowed until `complete` returns, which is
            // after the wait (C5, C6).
            current::bind(state, || unsafe {
                calls::memcpy_htod_async(state.api(), self.address, from, bytes, stream)
            })
        })
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
        same_len(source.len(), self.len)?;
        let (state, from) = (self.context.state(), source.as_raw());
        let bytes = self.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        complete(state, HostUse::None, |stream| {
            // SAFETY: both sides have `bytes` on this device (equal brands, C2), do not overlap
            // (`self` is a mutable borrow), and are borrowed until `complete` returns, which is
            // after the wait (C5, C6).
            current::bind(state, || unsafe {
                calls::memcpy_dtod_async(state.api(), self.address, from, bytes, stream)
            })
        })
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
        let (state, bytes) = (self.context.state(), self.len * size_of::<T>());
        if bytes == 0 {
            return Ok(());
        }
        complete(state, HostUse::None, |stream| {
            // SAFETY: `bytes` are allocated here and borrowed until `complete` returns, which is
            // after the wait (C5, C6).
            unsafe { calls::memset_d8_async(state.api(), self.address, 0, bytes, stream) }
        })
    }

    /// Sets every element, when the device can fill with elements of this size; says whether it
    /// can.
    pub(crate) fn try_fill(&mut self, value: T) -> Result<bool> {
        let Some(pattern) = Pattern::of(&value) else {
            return Ok(false);
        };
        let state = self.context.state();
        if self.len > 0 {
            complete(state, HostUse::None, |stream| {
                // SAFETY: the elements are allocated here and borrowed until `complete` returns,
                // which is after the wait (C5, C6).
                unsafe { pattern.fill(state.api(), self.address, self.len, stream) }
            })?;
        }
        Ok(true)
    }
}

impl<T: Fill> SliceMut<'_, '_, T> {
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
    pub fn fill(&mut self, value: T) -> Result<()> {
        // Types that are `Fill` have a pattern.
        self.try_fill(value).map(drop)
    }
}

impl<T> Clone for Slice<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<'_, '_, T> {}

impl<T> sealed::Near for Slice<'_, '_, T> {}
impl<T> sealed::Near for SliceMut<'_, '_, T> {}
impl<T> sealed::SealedFor<T> for Slice<'_, '_, T> {}
impl<T> sealed::SealedFor<T, sealed::Reading> for Slice<'_, '_, T> {}
impl<T> sealed::Sealed for SliceMut<'_, '_, T> {}
impl<T> sealed::SealedFor<T> for SliceMut<'_, '_, T> {}
impl<T> sealed::SealedFor<T, sealed::Writing> for SliceMut<'_, '_, T> {}

impl<'ctx, T> Memory<'ctx, T> for Slice<'_, 'ctx, T> {
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

impl<'ctx, T> Memory<'ctx, T> for SliceMut<'_, 'ctx, T> {
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

impl<'ctx, T> MemoryMut<'ctx, T> for SliceMut<'_, 'ctx, T> {}

impl<T> fmt::Debug for Slice<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("Slice", f)
    }
}

impl<T> fmt::Debug for SliceMut<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().describe("SliceMut", f)
    }
}
impl<'scope, 'ctx, T> SliceMut<'scope, 'ctx, T> {
    /// Puts the memory into the order of `stream` until the end of the scope. No driver call.
    ///
    /// The host, and other streams, have it back when the scope has waited.
    ///
    /// Parts from [`split_at_mut`](Self::split_at_mut) go to different streams this way.
    #[must_use]
    pub fn lend<'s>(self, stream: ScopedStream<'s, 'scope, 'ctx>) -> OnStream<'s, Self> {
        OnStream::new(self, stream.brand())
    }
}
