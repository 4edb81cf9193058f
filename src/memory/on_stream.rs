//! Device memory in the order of a stream.

use super::{Buffer, Memory, Slice, SliceMut, sealed};
use crate::error::Result;
use crate::ffi::{CUdeviceptr, CUstream};
use crate::stream::ScopedStream;
use generativity::Id;
use std::fmt;
use std::ops::RangeBounds;

/// Memory `B` (a [`Buffer`] or a view) in the order of stream `'s`: work may be pending on it, and only that stream may touch it.
///
/// On one stream, program order is execution order, so each operation borrows the handle for its call only. To use the memory on
/// another stream hand it over with [`ScopedStream::take`](crate::ScopedStream::take), which makes that stream wait.
///
/// A handle does not give its memory out: that would be memory with work pending on it and nobody knowing. It tells the address as a number.
pub struct Ordered<'s, B> {
    memory: B,
    brand: Id<'s>,
}

impl<'s, B> Ordered<'s, B> {
    pub(crate) fn new(memory: B, brand: Id<'s>) -> Self {
        Self { memory, brand }
    }

    /// The same memory in the same order, as another type.
    pub(crate) fn map<C>(self, f: impl FnOnce(B) -> C) -> Ordered<'s, C> {
        Ordered::new(f(self.memory), self.brand)
    }

    /// The memory, without its place in the order: for the scope's own operations.
    pub(crate) fn into_memory(self) -> B {
        self.memory
    }

    pub(crate) fn brand(&self) -> Id<'s> {
        self.brand
    }

    pub(crate) fn memory(&self) -> &B {
        &self.memory
    }

    pub(crate) fn memory_mut(&mut self) -> &mut B {
        &mut self.memory
    }
}

impl<'s, 'ctx, T> Ordered<'s, Buffer<'ctx, T>> {
    /// The device address as a number; 0 for an empty buffer. What a lent view's `as_raw` says about
    /// its use holds here too; dropped, the buffer is freed in the order of the same stream.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.memory.as_raw()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// The elements of `range`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Ordered<'s, Slice<'_, 'ctx, T>>> {
        Ok(Ordered::new(self.memory.slice(range)?, self.brand))
    }

    /// The elements of `range`, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<Ordered<'s, SliceMut<'_, 'ctx, T>>> {
        Ok(Ordered::new(self.memory.slice_mut(range)?, self.brand))
    }
}

impl<'s, 'b, 'ctx, T> Ordered<'s, SliceMut<'b, 'ctx, T>> {
    /// The device address as a number, for another library or a driver call that this crate does not have.
    ///
    /// Work that uses it belongs on [the stream](crate::ScopedStream::stream) in whose order the memory is, enqueued while this handle
    /// exists: then it is ordered with everything else, and the scope waits for it. The call that enqueues it is `unsafe`, and that is
    /// what it has to promise.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, ffi::CUresult, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_device(0, |ctx| {
    /// let (stream, mut buffer, mut host) = (ctx.stream()?, ctx.zeros::<u8>(4)?, [0; 4]);
    /// stream.scope(|s| {
    ///     let memory = s.lend(&mut buffer);
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
        self.memory.as_raw()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// The elements of `range`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Ordered<'s, Slice<'_, 'ctx, T>>> {
        Ok(Ordered::new(self.memory.view().slice(range)?, self.brand))
    }

    /// The elements of `range`, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<Ordered<'s, SliceMut<'_, 'ctx, T>>> {
        Ok(Ordered::new(self.memory.slice_mut(range)?, self.brand))
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
        Ordered<'s, SliceMut<'b, 'ctx, T>>,
        Ordered<'s, SliceMut<'b, 'ctx, T>>,
    )> {
        let (head, tail) = self.memory.split_at_mut(middle)?;
        Ok((
            Ordered::new(head, self.brand),
            Ordered::new(tail, self.brand),
        ))
    }
}

impl<B: fmt::Debug> fmt::Debug for Ordered<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ordered").field(&self.memory).finish()
    }
}

/// Memory of element type `T` that stream `'s` may read in scope `'scope`.
///
/// That is an [`Ordered`] of the same stream, or memory that is at rest and stays so: a `&'scope Buffer` or a [`Slice`] of one, which
/// nobody can write before the scope has waited. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory of `{T}` that this stream may read",
    note = "pass `&Ordered` of the same stream, or `&Buffer` (or a `Slice` of one) that outlives the scope"
)]
pub trait Readable<'s, 'scope, 'ctx, T>:
    sealed::SealedFor<T, sealed::Reading> + sealed::Near
{
    /// Device address and number of elements.
    fn region(&self) -> (CUdeviceptr, usize);
}

impl<T, B: sealed::SealedFor<T>> sealed::SealedFor<T, sealed::Reading> for &Ordered<'_, B> {}
impl<T> sealed::SealedFor<T, sealed::Reading> for &Buffer<'_, T> {}
impl<B: sealed::Near> sealed::Near for &Ordered<'_, B> {}
impl<T> sealed::Near for &Buffer<'_, T> {}

impl<'s, 'scope, 'ctx, T, B: Memory<'ctx, T>> Readable<'s, 'scope, 'ctx, T> for &Ordered<'s, B> {
    fn region(&self) -> (CUdeviceptr, usize) {
        (self.memory.as_raw(), self.memory.len())
    }
}

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

/// Memory that may leave its stream's order, to [another stream](crate::ScopedStream::take) or
/// [to rest](crate::ScopedStream::finish): a [`Buffer`] allocated in the scope, or a view that is borrowed for the whole scope.
///
/// A view for a shorter time, such as [`Ordered::slice`] gives, is not: when its borrow ends, its stream could write the memory while
/// the other one still reads it. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken out of its stream's order in this scope",
    note = "what was lent with `lend` or `lend_view`, or allocated with `zeros`, `uninit` or `upload`, can, in this scope"
)]
pub trait HandOver<'scope, 'ctx>: sealed::Sealed {
    /// Frees owned memory in the order of `stream` from now on.
    #[doc(hidden)]
    fn freed_on(&mut self, stream: CUstream);
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for Buffer<'ctx, T> {
    fn freed_on(&mut self, stream: CUstream) {
        self.free_on(stream);
    }
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for SliceMut<'scope, 'ctx, T> {
    fn freed_on(&mut self, _: CUstream) {}
}

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Takes over memory from the order of stream `'o`: this stream waits for what `'o` has been given so far (`cuEventRecord`,
    /// `cuStreamWaitEvent`). The host does not wait.
    ///
    /// "So far" means all of it: work that was enqueued on `'o` after the last use of this memory is waited for too. In a pipeline, hand
    /// the memory of a step over before enqueueing the step's work (`examples/pipeline.rs`).
    ///
    /// What is handed over was lent for the whole scope or allocated in it ([`HandOver`]), not a part that borrows from another handle.
    ///
    /// # Errors
    /// What the driver returns. The memory stays lent until the end of the scope, or if it was allocated inside, it is freed.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, scope, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (first, second) = (ctx.stream()?, ctx.stream()?);
    /// let mut buffer = ctx.zeros::<u32>(2)?;
    /// let mut host = [0; 2];
    /// scope(|scope| {
    ///     scope.on(&first, |a| {
    ///         let mut memory = a.lend(&mut buffer);
    ///         a.fill(&mut memory, 5)?;
    ///         scope.on(&second, |b| {
    ///             let memory = b.take(a, memory)?;
    ///             b.read(&memory, &mut host)
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(host, [5, 5]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    pub fn take<'o, B: HandOver<'scope, 'ctx>>(
        self,
        from: ScopedStream<'o, 'scope, 'ctx>,
        memory: Ordered<'o, B>,
    ) -> Result<Ordered<'s, B>> {
        self.wait_for(from)?;
        let mut memory = memory.into_memory();
        memory.freed_on(self.stream().as_raw());
        Ok(self.order(memory))
    }
}
