//! Rows at rest.

use super::host::{RowSource, RowTarget};
use super::region::{Region, check_pitch};
use super::slice::{LentRows, PitchedSlice, PitchedSliceMut};
use super::{PitchedMemory, PitchedMemoryMut};
use crate::context::Context;
use crate::error::{CloseError, Result};
use crate::extent::Extent;
use crate::ffi::{CUdeviceptr, CUstream};
use crate::memory::Element;
use crate::memory::OnStream;
use crate::memory::sealed::{Sealed, Token};
use crate::memory::{Buffer, Fill};
use crate::stream::ScopedStream;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// An owned box of elements in device memory, an image or a volume: each row starts at a multiple
/// of 512 bytes from the first.
///
/// So a warp that reads a row from its start reads whole cache lines, whatever the width. A kernel
/// gets the address as an argument for `In`, `Out` or `InOut` of [`Rows`](crate::Rows) and, as
/// numbers, [`pitch_bytes`](Self::pitch_bytes) and, of a volume, [`slice_rows`](Self::slice_rows):
/// the element at x, y, z is `x * sizeof(T) + (z * slice_rows + y) * pitch` bytes after the
/// address. What lies between the rows belongs to nobody: no safe operation reads or writes it.
///
/// The memory comes from the context's pool, as a buffer's does. Dropping it frees the memory
/// (`cuMemFreeAsync`).
///
/// ```
/// # use scoped_cuda::{Driver, Extent, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let mut image = ctx.upload_rows(&[1u32, 2, 3, 4, 5, 6], Extent::new(3, 2))?;
/// assert_eq!(image.pitch_bytes(), 512);
/// image.region_mut(1..3, 0..1, ..)?.write(&[20, 30])?;
/// assert_eq!(image.to_vec()?, [1, 20, 30, 4, 5, 6]);
/// assert_eq!(image.region(..1, .., ..)?.to_vec()?, [1, 4]); // a column
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct PitchedBuffer<'ctx, T> {
    /// All rows with what lies between them.
    memory: Buffer<'ctx, u8>,
    extent: Extent,
    pitch: usize,
    _elements: PhantomData<T>,
}

static_assertions::assert_impl_all!(PitchedBuffer<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(PitchedBuffer<'static, f32>: Clone);

impl<'ctx> Context<'ctx> {
    /// Device memory for `extent` elements in rows, all bytes zero; at rest when it returns
    /// (`cuMemAllocFromPoolAsync`, `cuMemsetD8Async`).
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow),
    /// [`Error::PitchTooLarge`](crate::Error::PitchTooLarge),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemsetD8Async")]
    pub fn zeros_rows<T: Element>(self, extent: Extent) -> Result<PitchedBuffer<'ctx, T>> {
        let mut pitched = PitchedBuffer::allocate(self, extent, self.state().service())?;
        pitched.memory.as_mut_slice().set_zero()?;
        Ok(pitched)
    }

    /// Device memory for `extent` elements in rows, with a copy of `host`, in which each row
    /// follows the one before; at rest when it returns (`cuMemAllocFromPoolAsync`,
    /// `cuMemcpy2DAsync` or `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) when `host` has not as many
    /// elements, or as [`zeros_rows`](Self::zeros_rows).
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    pub fn upload_rows<T: Element>(
        self,
        host: &[T],
        extent: Extent,
    ) -> Result<PitchedBuffer<'ctx, T>> {
        let host = super::HostRows::packed(host, extent)?;
        let mut pitched = PitchedBuffer::allocate(self, extent, self.state().service())?;
        pitched.write(host)?;
        Ok(pitched)
    }
}

impl<'ctx, T: Element> PitchedBuffer<'ctx, T> {
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
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().to_vec()
    }

    /// Copies all elements to `host`: see [`PitchedSlice::read`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "memcpy_dtoh")]
    pub fn read<'h>(&self, host: impl RowTarget<'h, T>) -> Result<()> {
        self.as_slice().read(host)
    }

    /// Overwrites all elements with the elements of `host`: see [`PitchedSliceMut::write`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "memcpy_htod")]
    pub fn write<'h>(&mut self, host: impl RowSource<'h, T>) -> Result<()> {
        self.as_mut_slice().write(host)
    }

    /// Overwrites all elements with the elements of `source`: see [`PitchedSliceMut::copy_from`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    pub fn copy_from(&mut self, source: &impl PitchedMemory<'ctx, T>) -> Result<()> {
        self.as_mut_slice().copy_from(source)
    }

    /// Sets every element to `value`: see [`PitchedSliceMut::fill`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    pub fn fill(&mut self, value: T) -> Result<()>
    where
        T: Fill,
    {
        self.as_mut_slice().fill(value)
    }
}

impl<'ctx, T> PitchedBuffer<'ctx, T> {
    /// Memory that may be used on `stream`, of the context, and is freed in its order. The content
    /// is undefined.
    pub(crate) fn allocate(
        context: Context<'ctx>,
        extent: Extent,
        stream: CUstream,
    ) -> Result<Self> {
        let (pitch, bytes) = Region::plan::<T>(extent)?;
        if bytes > 0 {
            check_pitch(context.state(), pitch)?;
        }
        Ok(Self {
            memory: Buffer::allocate(context, bytes, stream)?,
            extent,
            pitch,
            _elements: PhantomData,
        })
    }

    /// The context whose device has the memory.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.memory.context()
    }

    /// Number of elements in each direction.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.extent.is_empty()
    }

    /// Bytes from the start of one row to the start of the next: the width in bytes, rounded up to
    /// a multiple of 512.
    #[must_use]
    pub fn pitch_bytes(&self) -> usize {
        self.pitch
    }

    /// Elements from the start of one row to the start of the next, when that is a whole number.
    #[must_use]
    pub fn pitch_elements(&self) -> Option<usize> {
        self.as_slice().pitch_elements()
    }

    /// Rows from the start of one slice to the start of the next: the height.
    #[must_use]
    pub fn slice_rows(&self) -> usize {
        self.extent.height
    }

    /// Size of the allocation in bytes, with what lies between the rows.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.memory.size_bytes()
    }

    /// The device address; 0 when there are no elements.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.memory.as_raw()
    }

    /// All elements, to read.
    #[must_use]
    pub fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T> {
        PitchedSlice::new(self.context(), self.geometry())
    }

    /// All elements, to write.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> PitchedSliceMut<'_, 'ctx, T> {
        PitchedSliceMut::new(self.context(), self.geometry())
    }

    /// The elements within the ranges, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn region(
        &self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<PitchedSlice<'_, 'ctx, T>> {
        self.as_slice().region(x, y, z)
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
        let part = self.geometry().part::<T>(x, y, z)?;
        Ok(PitchedSliceMut::new(self.context(), part))
    }

    /// Frees the memory and says whether that worked; after an error it is handed back
    /// (`cuMemFreeAsync`).
    ///
    /// # Errors
    /// The memory and what the driver returned.
    #[allow(clippy::result_large_err)] // what could not be freed comes back
    #[doc(alias = "cuMemFreeAsync")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        let Self {
            memory,
            extent,
            pitch,
            _elements,
        } = self;
        memory.close().map_err(|failed| {
            failed.map(|memory| Self {
                memory,
                extent,
                pitch,
                _elements,
            })
        })
    }

    fn geometry(&self) -> Region {
        Region {
            address: self.memory.as_raw(),
            extent: self.extent,
            pitch: self.pitch,
            slice_rows: self.extent.height,
        }
    }

    /// All bytes, with what lies between the rows.
    pub(crate) fn bytes(&self) -> &Buffer<'ctx, u8> {
        &self.memory
    }

    /// Makes `stream` the one after whose work the memory is freed.
    pub(crate) fn free_on(&mut self, stream: CUstream) {
        self.memory.free_on(stream);
    }
}

impl<T> Sealed for PitchedBuffer<'_, T> {}

impl<'ctx, T> PitchedMemory<'ctx, T> for PitchedBuffer<'ctx, T> {
    fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T> {
        PitchedBuffer::as_slice(self)
    }

    fn seal(&self, _: Token) {}
}

impl<'ctx, T> PitchedMemoryMut<'ctx, T> for PitchedBuffer<'ctx, T> {
    fn as_mut_slice(&mut self) -> PitchedSliceMut<'_, 'ctx, T> {
        PitchedBuffer::as_mut_slice(self)
    }

    fn seal_mut(&mut self, _: Token) {}
}

impl<T> fmt::Debug for PitchedBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().describe("PitchedBuffer", f)
    }
}
impl<'scope, 'ctx, T> PitchedBuffer<'ctx, T> {
    /// Puts the memory into the order of `stream` until the end of the scope. No driver call.
    ///
    /// The host, and other streams, have it back when the scope has waited.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Extent, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let mut image = ctx.zeros_rows::<u32>(Extent::new(3, 2))?;
    /// let (stream, mut column) = (ctx.new_stream()?, [0; 2]);
    /// stream.scope(|s| {
    ///     let mut image = image.lend(s);
    ///     s.write_rows(&[1, 2, 3, 4, 5, 6], &mut image)?;
    ///     s.fill_rows(&mut image.region_mut(1.., .., ..)?, 7)?;
    ///     s.read_rows(&image.region(..1, .., ..)?, &mut column)
    /// })?;
    /// assert_eq!(column, [1, 4]);
    /// assert_eq!(image.to_vec()?, [1, 7, 7, 4, 7, 7]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn lend<'s>(
        &'scope mut self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
    ) -> LentRows<'s, 'scope, 'ctx, T> {
        OnStream::new(self.as_mut_slice(), stream.brand())
    }
}
