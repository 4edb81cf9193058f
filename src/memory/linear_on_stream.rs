//! Buffers and views of them in the order of a stream: queries and parts.

use super::{Buffer, HandOver, Memory, OnStream, Readable, Slice, SliceMut, sealed};
use crate::error::Result;
use crate::ffi::{CUdeviceptr, CUstream};
use std::ops::RangeBounds;

impl<'s, 'ctx, T> OnStream<'s, Buffer<'ctx, T>> {
    /// The device address as a number; 0 for an empty buffer. What a lent view's `as_raw` says
    /// about its use holds here too; dropped, the buffer is freed in the order of the same stream.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.memory().as_raw()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory().len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory().is_empty()
    }

    /// The elements of `range`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(
        &self,
        range: impl RangeBounds<usize>,
    ) -> Result<OnStream<'s, Slice<'_, 'ctx, T>>> {
        Ok(OnStream::new(self.memory().slice(range)?, self.brand()))
    }

    /// The elements of `range`, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<OnStream<'s, SliceMut<'_, 'ctx, T>>> {
        let brand = self.brand();
        Ok(OnStream::new(self.memory_mut().slice_mut(range)?, brand))
    }
}

impl<'s, 'b, 'ctx, T> OnStream<'s, SliceMut<'b, 'ctx, T>> {
    /// The device address as a number, for another library or a driver call that this crate does
    /// not have.
    ///
    /// Work that uses it belongs on [the stream](crate::ScopedStream::stream) in whose order the
    /// memory is, enqueued while this handle exists: then it is ordered with everything else, and
    /// the scope waits for it. The call that enqueues it is `unsafe`, and that is what it has to
    /// promise.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, ffi::CUresult, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_device(0, |ctx| {
    /// let (stream, mut buffer, mut host) = (ctx.new_stream()?, ctx.zeros::<u8>(4)?, [0; 4]);
    /// stream.scope(|s| {
    ///     let memory = buffer.lend(s);
    ///     let (address, raw) = (memory.as_raw(), s.stream().as_raw());
    ///     // SAFETY: 4 bytes in the order of the stream, lent until the scope has waited.
    ///     let code = unsafe { (driver.symbols().cuMemsetD8Async)(address, 7, 4, raw) };
    ///     assert_eq!(code, CUresult::SUCCESS);
    ///     s.read(&memory, &mut host)
    /// })?;
    /// assert_eq!(host, [7; 4]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.memory().as_raw()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory().len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory().is_empty()
    }

    /// The elements of `range`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(
        &self,
        range: impl RangeBounds<usize>,
    ) -> Result<OnStream<'s, Slice<'_, 'ctx, T>>> {
        Ok(OnStream::new(
            self.memory().as_slice().slice(range)?,
            self.brand(),
        ))
    }

    /// The elements of `range`, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<OnStream<'s, SliceMut<'_, 'ctx, T>>> {
        let brand = self.brand();
        Ok(OnStream::new(self.memory_mut().slice_mut(range)?, brand))
    }

    /// The elements before `middle` and those from it on, each a handle of its own.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    #[allow(clippy::type_complexity)] // two of what came in
    pub fn split_at_mut(
        self,
        middle: usize,
    ) -> Result<(
        OnStream<'s, SliceMut<'b, 'ctx, T>>,
        OnStream<'s, SliceMut<'b, 'ctx, T>>,
    )> {
        let brand = self.brand();
        let (head, tail) = self.into_memory().split_at_mut(middle)?;
        Ok((OnStream::new(head, brand), OnStream::new(tail, brand)))
    }
}

impl<T> sealed::SealedFor<T, sealed::Reading> for &Buffer<'_, T> {}
impl<T> sealed::Near for &Buffer<'_, T> {}

impl<'s, 'scope, 'ctx, T> Readable<'s, 'scope, 'ctx, T> for &'scope Buffer<'ctx, T> {
    fn region(&self) -> (CUdeviceptr, usize) {
        (Memory::as_raw(*self), Memory::len(*self))
    }
}

impl<'s, 'scope, 'ctx, T> Readable<'s, 'scope, 'ctx, T> for Slice<'scope, 'ctx, T> {
    fn region(&self) -> (CUdeviceptr, usize) {
        (self.as_raw(), Memory::len(self))
    }
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for Buffer<'ctx, T> {
    fn freed_on(&mut self, stream: CUstream, _: sealed::Token) {
        self.free_on(stream);
    }
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for SliceMut<'scope, 'ctx, T> {
    fn freed_on(&mut self, _: CUstream, _: sealed::Token) {}
}
