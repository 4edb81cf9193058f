//! Rows in a scope: lending, allocating, copying and filling on a stream.

#![allow(unsafe_code)] // copies and fills device memory

use super::host::{RowSource, RowTarget};
use super::pitched::PitchedBuffer;
use super::region;
use super::{PitchedMemoryMut, ReadableRows};
use crate::error::Result;
use crate::extent::Extent;
use crate::internal::calls;
use crate::memory::Element;
use crate::memory::sealed::Token;
use crate::memory::{Fill, OnStream, Pattern};
use crate::stream::ScopedStream;

/// Device memory in rows.
impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Allocates `extent` elements in rows, in the order of this stream, all bytes zero. Dropping
    /// the handle frees them in the same order (`cuMemAllocFromPoolAsync`, `cuMemsetD8Async`,
    /// `cuMemFreeAsync`).
    ///
    /// # Errors
    /// As [`Context::zeros_rows`](crate::Context::zeros_rows).
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemFreeAsync")]
    pub fn zeros_rows<T: Element>(
        self,
        extent: Extent,
    ) -> Result<OnStream<'s, PitchedBuffer<'ctx, T>>> {
        let stream = self.stream().as_raw();
        let memory = PitchedBuffer::allocate(self.context(), extent, stream)?;
        let bytes = memory.bytes();
        if !bytes.is_empty() {
            let (driver, len) = (self.context().api(), bytes.size_bytes());
            // SAFETY: the bytes were allocated in the order of this stream, and are freed in it
            // (C6).
            self.explained(unsafe {
                calls::memset_d8_async(driver, bytes.as_raw(), 0, len, stream)
            })?;
        }
        Ok(OnStream::new(memory, self.brand()))
    }

    /// Copies `source` to `destination`: [`HostRows`](crate::HostRows) of the same extent, or a
    /// slice of as many elements, in which each row follows the one before (`cuMemcpy2DAsync`,
    /// `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch),
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch),
    /// [`Error::PitchTooLarge`](crate::Error::PitchTooLarge) or what the driver returns.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    pub fn write_rows<T: Element>(
        self,
        source: impl RowSource<'scope, T>,
        destination: &mut OnStream<'s, impl PitchedMemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let to = destination
            .memory_mut()
            .as_mut_slice()
            .as_slice()
            .geometry();
        let source = source.rows(to.extent, Token)?;
        if to.is_empty::<T>() {
            return Ok(());
        }
        let (state, stream, from) = (
            self.context().state(),
            self.stream().as_raw(),
            source.side(),
        );
        to.check_other_pitch(state, from)?;
        self.stream().loans().lend();
        // SAFETY: both sides have the rows; the host's stay borrowed for `'scope`, which ends after
        // the wait (C5, C6); the device's are in this stream's order, so whatever touches them next
        // does so after this copy.
        unsafe { region::copy::<T>(state, to.side(), from, to.extent, stream) }
    }

    /// Copies `source` to `destination`: [`HostRowsMut`](crate::HostRowsMut) of the same extent, or
    /// a slice of as many elements, in which each row follows the one before (`cuMemcpy2DAsync`,
    /// `cuMemcpy3DAsync`). What lies between the rows there is not written.
    ///
    /// When `destination` is ordinary memory the driver keeps the calling thread until the copy is
    /// done; it only overlaps with other work when it is page-locked.
    ///
    /// # Errors
    /// As [`write_rows`](Self::write_rows).
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    pub fn read_rows<T: Element>(
        self,
        source: impl ReadableRows<'s, 'scope, 'ctx, T>,
        destination: impl RowTarget<'scope, T>,
    ) -> Result<()> {
        let from = source.rows(Token).geometry();
        let mut destination = destination.rows(from.extent, Token)?;
        if from.is_empty::<T>() {
            return Ok(());
        }
        let (state, stream, to) = (
            self.context().state(),
            self.stream().as_raw(),
            destination.side(),
        );
        from.check_other_pitch(state, to)?;
        self.stream().loans().lend();
        // SAFETY: as in `write_rows`; any bits are a valid `T` (`Pod`), and a source at rest is not
        // written before the wait.
        unsafe { region::copy::<T>(state, to, from.side(), from.extent, stream) }
    }

    /// Copies `source` to `destination`, rows of the same device and extent (`cuMemcpy2DAsync`,
    /// `cuMemcpy3DAsync`).
    ///
    /// # Errors
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch) or what the driver returns.
    #[doc(alias = "cuMemcpy2DAsync")]
    #[doc(alias = "cuMemcpy3DAsync")]
    pub fn copy_rows<T: Element>(
        self,
        source: impl ReadableRows<'s, 'scope, 'ctx, T>,
        destination: &mut OnStream<'s, impl PitchedMemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let from = source.rows(Token).geometry();
        let to = destination
            .memory_mut()
            .as_mut_slice()
            .as_slice()
            .geometry();
        Extent::same(from.extent, to.extent)?;
        if to.is_empty::<T>() {
            return Ok(());
        }
        let (state, stream) = (self.context().state(), self.stream().as_raw());
        // SAFETY: both sides have the rows on this device (equal brands, C2) and share no element
        // (`destination` is a mutable borrow of all handles to its elements); order as in
        // `write_rows`.
        unsafe { region::copy::<T>(state, to.side(), from.side(), to.extent, stream) }
    }

    /// Sets every element of `destination` to `value` (`cuMemsetD2D8Async`, `cuMemsetD2D16Async` or
    /// `cuMemsetD2D32Async`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuMemsetD2D8Async")]
    #[doc(alias = "cuMemsetD2D16Async")]
    #[doc(alias = "cuMemsetD2D32Async")]
    pub fn fill_rows<T: Fill>(
        self,
        destination: &mut OnStream<'s, impl PitchedMemoryMut<'ctx, T>>,
        value: T,
    ) -> Result<()> {
        let to = destination
            .memory_mut()
            .as_mut_slice()
            .as_slice()
            .geometry();
        let (Some(pattern), false) = (Pattern::of(&value), to.is_empty::<T>()) else {
            return Ok(());
        };
        // SAFETY: the elements are in this stream's order (C6) and on its device (equal brands,
        // C2).
        unsafe { to.fill(self.context().state(), pattern, self.stream().as_raw()) }
    }
}
