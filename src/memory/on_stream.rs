//! Device memory in the order of a stream.

use super::{Memory, sealed};
use crate::error::Result;
use crate::ffi::{CUdeviceptr, CUstream};
use crate::internal::wait::wait;
use crate::stream::ScopedStream;
use generativity::Id;
use std::fmt;

/// Memory `B` (a [`Buffer`](crate::Buffer) or a view) in the order of stream `'s`: work may be
/// pending on it, and only that stream may touch it.
///
/// On one stream, program order is execution order, so each operation borrows the handle for its
/// call only. To use the memory on another stream hand it over with
/// [`OnStream::hand_over`](crate::OnStream::hand_over), which makes that stream wait.
///
/// A handle does not give its memory out: that would be memory with work pending on it and nobody
/// knowing. It tells the address as a number.
pub struct OnStream<'s, B> {
    memory: B,
    brand: Id<'s>,
}

static_assertions::assert_not_impl_any!(OnStream<'static, u8>: Clone);

impl<'s, B> OnStream<'s, B> {
    /// Memory on which nothing is pending, or what is, the stream of this brand does before what it
    /// is given next.
    pub(crate) fn new(memory: B, brand: Id<'s>) -> Self {
        Self { memory, brand }
    }

    /// The same memory in the same order, as another type.
    pub(crate) fn map<C>(self, f: impl FnOnce(B) -> C) -> OnStream<'s, C> {
        OnStream::new(f(self.memory), self.brand)
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

impl<B: fmt::Debug> fmt::Debug for OnStream<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnStream").field(&self.memory).finish()
    }
}

/// Memory of element type `T` that stream `'s` may read in scope `'scope`.
///
/// That is an [`OnStream`] of the same stream, or memory that is at rest and stays so: a `&'scope
/// Buffer` or a [`Slice`](crate::Slice) of one, which nobody can write before the scope has waited.
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory of `{T}` that this stream may read",
    note = "pass `&OnStream` of the same stream, or `&Buffer` (or a `Slice` of one) that outlives the scope"
)]
pub trait Readable<'s, 'scope, 'ctx, T>:
    sealed::SealedFor<T, sealed::Reading> + sealed::Near
{
    /// Device address and number of elements.
    fn region(&self) -> (CUdeviceptr, usize);
}

impl<T, B: sealed::SealedFor<T>> sealed::SealedFor<T, sealed::Reading> for &OnStream<'_, B> {}
impl<B: sealed::Near> sealed::Near for &OnStream<'_, B> {}

impl<'s, 'scope, 'ctx, T, B: Memory<'ctx, T>> Readable<'s, 'scope, 'ctx, T> for &OnStream<'s, B> {
    fn region(&self) -> (CUdeviceptr, usize) {
        (self.memory.as_raw(), self.memory.len())
    }
}

/// Memory that may leave its stream's order, to [another stream](OnStream::hand_over) or [to
/// rest](crate::OnStream::release): a [`Buffer`](crate::Buffer) allocated in the scope, or a view
/// that is borrowed for the whole scope.
///
/// A view for a shorter time, such as [`OnStream::slice`] gives, is not: when its borrow ends, its
/// stream could write the memory while the other one still reads it. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken out of its stream's order in this scope",
    note = "what was lent with `lend` or `lend_view`, or allocated with `zeros`, `uninit` or `upload`, can, in this scope"
)]
pub trait HandOver<'scope, 'ctx>: sealed::Sealed {
    /// Frees owned memory in the order of `stream` from now on.
    #[doc(hidden)]
    fn freed_on(&mut self, stream: CUstream, token: sealed::Token);
}

impl<'s, B> OnStream<'s, B> {
    /// Hands the memory over from stream `from`, in whose order it is, to stream `to`, which waits
    /// for what `from` has been given so far (`cuEventRecord`, `cuStreamWaitEvent`). The host does
    /// not wait.
    ///
    /// "So far" means all of it: work that was enqueued on `from` after the last use of this memory
    /// is waited for too. In a pipeline, hand the memory of a step over before enqueueing the
    /// step's work (`examples/pipeline.rs`).
    ///
    /// What is handed over was lent for the whole scope or allocated in it, not a part that borrows
    /// from another handle.
    ///
    /// # Errors
    /// What the driver returns. The memory stays lent until the end of the scope, or if it was
    /// allocated inside, it is freed.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, scope, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
    /// let mut buffer = ctx.zeros::<u32>(2)?;
    /// let mut host = [0; 2];
    /// scope(|scope| {
    ///     scope.on(&first, |a| {
    ///         let mut memory = buffer.lend(a);
    ///         a.fill(&mut memory, 5)?;
    ///         scope.on(&second, |b| {
    ///             let memory = memory.hand_over(a, b)?;
    ///             b.read(&memory, &mut host)
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(host, [5, 5]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn hand_over<'to, 'scope, 'ctx>(
        self,
        from: ScopedStream<'s, 'scope, 'ctx>,
        to: ScopedStream<'to, 'scope, 'ctx>,
    ) -> Result<OnStream<'to, B>>
    where
        B: HandOver<'scope, 'ctx>,
    {
        to.wait_for(from)?;
        let mut memory = self.memory;
        memory.freed_on(to.stream().as_raw(), sealed::Token);
        Ok(OnStream::new(memory, to.brand()))
    }

    /// Waits for stream `from`, in whose order the memory is, and gives the memory back at rest,
    /// while the scope goes on (`cuStreamSynchronize`).
    ///
    /// For memory that was allocated in the scope this is the way out of it. A view that was lent
    /// may be lent again, to any stream, or used at rest. Other streams are not waited for: what
    /// they did with the memory before it was [handed over](Self::hand_over), `from` has waited
    /// for.
    ///
    /// # Errors
    /// The error of the work, or what the driver returns. What was allocated in the scope is freed
    /// then; what was lent comes back to its owner at the end of the scope.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when host memory is lent to the
    /// stream.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let sevens = stream.scope(|s| {
    ///     let mut memory = s.zeros::<u32>(3)?;
    ///     s.fill(&mut memory, 7)?;
    ///     let memory = memory.release(s)?;
    ///     assert_eq!(memory.to_vec()?, [7, 7, 7]); // at rest, and the scope goes on
    ///     Ok(memory)
    /// })?;
    /// assert_eq!(sevens.to_vec()?, [7, 7, 7]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuStreamSynchronize")]
    pub fn release<'scope, 'ctx>(self, from: ScopedStream<'s, 'scope, 'ctx>) -> Result<B>
    where
        B: HandOver<'scope, 'ctx>,
    {
        let state = from.context().state();
        // Whatever is pending on the memory is in the order of this stream: it was allocated or
        // lent there, or handed over, which made that stream wait for the one before; the handle,
        // which every operation on the memory needs, is consumed here, and so are its parts, since
        // a part is divided off for good or borrows the handle. A copy from another context that
        // wrote it (`Transfer::enqueue`) made that stream wait for it. So when that stream has come
        // to its end the memory is at rest (C5, C6).
        wait(state, from.stream().as_raw(), || {
            from.stream().loans().is_lent()
        })?;
        let mut memory = self.memory;
        memory.freed_on(state.service(), sealed::Token);
        Ok(memory)
    }
}
