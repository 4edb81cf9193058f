//! Views of rows at rest.

#![allow(unsafe_code)] // copies and fills device memory

use super::host::{RowSource, RowTarget};
use super::region::{self, Region};
use super::{PitchedMemory, PitchedMemoryMut};
use crate::context::Context;
use crate::error::Result;
use crate::extent::{Axis, Extent};
use crate::ffi::CUdeviceptr;
use crate::internal::at_rest::complete;
use crate::internal::wait::HostUse;
use crate::memory::OnStream;
use crate::memory::all;
use crate::memory::sealed::{Sealed, Token};
use crate::memory::{Fill, Pattern};
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// A borrowed box of elements of a [`PitchedBuffer`](crate::PitchedBuffer) that is only read.
/// `Copy`, like `&[T]`.
pub struct PitchedSlice<'b, 'ctx, T> {
    context: Context<'ctx>,
    region: Region,
    _borrow: PhantomData<&'b [T]>,
}

/// A borrowed box of elements of a [`PitchedBuffer`](crate::PitchedBuffer) that may be written,
/// like `&mut [T]`.
///
/// Two of them never share an element. Their rows may alternate in memory, as those of the two
/// halves that
/// [`split_at_mut`](Self::split_at_mut) makes along [`Axis::X`]: an operation on one touches its
/// own elements and nothing between them.
pub struct PitchedSliceMut<'b, 'ctx, T> {
    context: Context<'ctx>,
    region: Region,
    _borrow: PhantomData<&'b mut [T]>,
}

/// Rows that were lent to a stream until the end of the scope: what
/// [`PitchedBuffer::lend`](crate::PitchedBuffer::lend) returns.
pub type LentRows<'s, 'scope, 'ctx, T> = OnStream<'s, PitchedSliceMut<'scope, 'ctx, T>>;

static_assertions::assert_impl_all!(PitchedSlice<'static, 'static, f32>: Copy, Send, Sync, std::panic::UnwindSafe);
static_assertions::assert_impl_all!(PitchedSliceMut<'static, 'static, f32>: Send, Sync, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(PitchedSliceMut<'static, 'static, f32>: Clone);

/// What both views can tell.
macro_rules! queries {
    () => {
        /// Number of elements in each direction.
        #[must_use]
        pub fn extent(&self) -> Extent {
            self.region.extent
        }

        /// Whether there are no elements.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.region.extent.is_empty()
        }

        /// Bytes from the start of one row to the start of the next, for a kernel.
        #[must_use]
        pub fn pitch_bytes(&self) -> usize {
            self.region.pitch
        }

        /// Elements from the start of one row to the start of the next, when that is a whole
        /// number.
        #[must_use]
        pub fn pitch_elements(&self) -> Option<usize> {
            self.region.pitch_elements::<T>()
        }

        /// Rows from the start of one slice to the start of the next, for a kernel: the height of
        /// the allocation.
        #[must_use]
        pub fn slice_rows(&self) -> usize {
            self.region.slice_rows
        }

        /// The device address of the first element; 0 when there is none. A number: only a kernel
        /// can do something with it.
        #[must_use]
        pub fn as_raw(&self) -> CUdeviceptr {
            self.region.address
        }

        /// The context whose device has the memory.
        #[must_use]
        pub fn context(&self) -> Context<'ctx> {
            self.context
        }
    };
}

impl<'b, 'ctx, T> PitchedSlice<'b, 'ctx, T> {
    /// The rows are allocated on the context's device and borrowed for `'b`.
    pub(crate) fn new(context: Context<'ctx>, region: Region) -> Self {
        Self {
            context,
            region,
            _borrow: PhantomData,
        }
    }

    queries!();

    /// The elements within the ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn region(
        self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<Self> {
        Ok(Self::new(self.context, self.region.part::<T>(x, y, z)?))
    }

    pub(crate) fn geometry(self) -> Region {
        self.region
    }

    pub(crate) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.context.device().ordinal();
        let Region {
            address,
            extent,
            pitch,
            ..
        } = self.region;
        let element = type_name::<T>();
        write!(
            f,
            "{name}(device {device}, {extent} x {element}, rows {pitch} bytes apart, {address:#x})"
        )
    }
}

impl<T: Pod> PitchedSlice<'_, '_, T> {
    /// A copy in host memory, each row after the one before (`cuMemcpy2DAsync`, `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    #[doc(alias = "clone_dtoh")]
    pub fn to_vec(self) -> Result<Vec<T>> {
        let mut host = all(T::zeroed(), self.region.extent.len::<T>()?);
        self.read(&mut host)?;
        Ok(host)
    }

    /// Copies all elements to `host`: [`HostRowsMut`](crate::HostRowsMut) of the same extent, or a
    /// slice of as many elements (`cuMemcpy2DAsync`, `cuMemcpy3DAsync`). What lies between the rows
    /// there is not written.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch),
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch),
    /// [`Error::PitchTooLarge`](crate::Error::PitchTooLarge) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    #[doc(alias = "memcpy_dtoh")]
    pub fn read<'h>(self, host: impl RowTarget<'h, T>) -> Result<()> {
        let (state, from) = (self.context.state(), self.region);
        let mut host = host.rows(from.extent, Token)?;
        if from.is_empty::<T>() {
            return Ok(());
        }
        let to = host.side();
        from.check_other_pitch(state, to)?;
        complete(state, HostUse::Lent, |stream| {
            // SAFETY: both sides have the rows (checked by their types), any bits are a valid `T`
            // (`Pod`), and both are borrowed until `complete` returns, which is after the wait (C5,
            // C6).
            unsafe { region::copy::<T>(state, to, from.side(), from.extent, stream) }
        })
    }
}

impl<'b, 'ctx, T> PitchedSliceMut<'b, 'ctx, T> {
    /// The rows are allocated on the context's device and their elements mutably borrowed for `'b`.
    pub(crate) fn new(context: Context<'ctx>, region: Region) -> Self {
        Self {
            context,
            region,
            _borrow: PhantomData,
        }
    }

    queries!();

    /// The same elements for a shorter time, to read.
    #[must_use]
    pub fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T> {
        PitchedSlice::new(self.context, self.region)
    }

    /// The same elements for a shorter time, to write.
    #[must_use]
    pub fn reborrow(&mut self) -> PitchedSliceMut<'_, 'ctx, T> {
        PitchedSliceMut::new(self.context, self.region)
    }

    /// The elements within the ranges, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn region_mut(
        &mut self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<PitchedSliceMut<'_, 'ctx, T>> {
        let part = self.region.part::<T>(x, y, z)?;
        Ok(PitchedSliceMut::new(self.context, part))
    }

    /// The elements before `middle` along `axis`, and those from it on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    pub fn split_at_mut(self, axis: Axis, middle: usize) -> Result<(Self, Self)> {
        let (head, tail) = self.region.split::<T>(axis, middle)?;
        Ok((Self::new(self.context, head), Self::new(self.context, tail)))
    }
}

impl<'ctx, T: Pod> PitchedSliceMut<'_, 'ctx, T> {
    /// Overwrites all elements with the elements of `host`: [`HostRows`](crate::HostRows) of the
    /// same extent, or a slice of as many elements (`cuMemcpy2DAsync`, `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch),
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch),
    /// [`Error::PitchTooLarge`](crate::Error::PitchTooLarge) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    #[doc(alias = "memcpy_htod")]
    pub fn write<'h>(&mut self, host: impl RowSource<'h, T>) -> Result<()> {
        let (state, to) = (self.context.state(), self.region);
        let host = host.rows(to.extent, Token)?;
        if to.is_empty::<T>() {
            return Ok(());
        }
        let from = host.side();
        to.check_other_pitch(state, from)?;
        complete(state, HostUse::Lent, |stream| {
            // SAFETY: both sides have the rows (checked by their types) and are borrowed until
            // `complete` returns, which is after the wait (C5, C6).
            unsafe { region::copy::<T>(state, to.side(), from, to.extent, stream) }
        })
    }

    /// Overwrites all elements with the elements of `source`, rows of the same context and extent
    /// (`cuMemcpy2DAsync`, `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    pub fn copy_from(&mut self, source: &impl PitchedMemory<'ctx, T>) -> Result<()> {
        let (state, to, from) = (
            self.context.state(),
            self.region,
            source.as_slice().geometry(),
        );
        Extent::same(from.extent, to.extent)?;
        if to.is_empty::<T>() {
            return Ok(());
        }
        complete(state, HostUse::None, |stream| {
            // SAFETY: both sides have the rows on this device (equal brands, C2), share no element
            // (`self` is a mutable borrow), and are borrowed until `complete` returns, which is
            // after the wait (C5, C6).
            unsafe { region::copy::<T>(state, to.side(), from.side(), to.extent, stream) }
        })
    }

    /// Sets every element to `value` (`cuMemsetD2D8Async`, `cuMemsetD2D16Async` or
    /// `cuMemsetD2D32Async`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemsetD2D8Async")]
    #[doc(alias = "cuMemsetD2D16Async")]
    #[doc(alias = "cuMemsetD2D32Async")]
    pub fn fill(&mut self, value: T) -> Result<()>
    where
        T: Fill,
    {
        let (state, to) = (self.context.state(), self.region);
        let (Some(pattern), false) = (Pattern::of(&value), to.is_empty::<T>()) else {
            return Ok(());
        };
        complete(state, HostUse::None, |stream| {
            // SAFETY: the elements are on this device and borrowed until `complete` returns, which
            // is after the wait (C5, C6).
            unsafe { to.fill(state, pattern, stream) }
        })
    }
}

impl<T> Clone for PitchedSlice<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PitchedSlice<'_, '_, T> {}

impl<T> Sealed for PitchedSliceMut<'_, '_, T> {}

impl<'ctx, T> PitchedMemory<'ctx, T> for PitchedSlice<'_, 'ctx, T> {
    fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T> {
        *self
    }

    fn seal(&self, _: Token) {}
}

impl<'ctx, T> PitchedMemory<'ctx, T> for PitchedSliceMut<'_, 'ctx, T> {
    fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T> {
        PitchedSliceMut::as_slice(self)
    }

    fn seal(&self, _: Token) {}
}

impl<'ctx, T> PitchedMemoryMut<'ctx, T> for PitchedSliceMut<'_, 'ctx, T> {
    fn as_mut_slice(&mut self) -> PitchedSliceMut<'_, 'ctx, T> {
        self.reborrow()
    }

    fn seal_mut(&mut self, _: Token) {}
}

impl<T> fmt::Debug for PitchedSlice<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("PitchedSlice", f)
    }
}

impl<T> fmt::Debug for PitchedSliceMut<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().describe("PitchedSliceMut", f)
    }
}
impl<'scope, 'ctx, T> PitchedSliceMut<'scope, 'ctx, T> {
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
