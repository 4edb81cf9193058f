//! Memory that is made in a scope, and memory that comes back to rest before the scope ends.

#![allow(unsafe_code)] // vouches for what was written

use super::{Buffer, Element, HandOver, Ordered, same_len};
use crate::error::Result;
use crate::scope::ScopedStream;
use crate::wait::wait;
use bytemuck::Pod;
use std::mem::MaybeUninit;

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Allocates `len` elements in the order of this stream, with whatever was there before as their content
    /// (`cuMemAllocFromPoolAsync`). Dropping the handle frees them in the same order.
    ///
    /// The element type says so: nothing reads a `MaybeUninit<T>`. [`write_init`](Self::write_init) fills it from the host,
    /// [`Ordered::assume_init`] promises that a kernel does.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow), [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver
    /// returns.
    pub fn uninit<T: Element>(
        self,
        len: usize,
    ) -> Result<Ordered<'s, Buffer<'ctx, MaybeUninit<T>>>> {
        let buffer = Buffer::allocate(self.context(), len, self.stream().as_raw())?;
        Ok(self.order(buffer))
    }

    /// Allocates device memory in the order of this stream and copies `source` to it (`cuMemAllocFromPoolAsync`,
    /// `cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.stream()?;
    /// let host = [1u32, 2, 3];
    /// let buffer = stream.scope(|s| {
    ///     let memory = s.upload(&host)?;
    ///     s.finish(memory)
    /// })?;
    /// assert_eq!(buffer.to_vec()?, host);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn upload<T: Element>(self, source: &'scope [T]) -> Result<Ordered<'s, Buffer<'ctx, T>>> {
        let memory = self.uninit(source.len())?;
        self.write_init(source, memory)
    }

    /// Copies `source` to memory that had no content yet and has as many elements, which makes it memory of `T`
    /// (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns; the memory is freed then.
    pub fn write_init<T: Element>(
        self,
        source: &'scope [T],
        destination: Ordered<'s, Buffer<'ctx, MaybeUninit<T>>>,
    ) -> Result<Ordered<'s, Buffer<'ctx, T>>> {
        same_len(source.len(), destination.len())?;
        // SAFETY: this very call writes every element, before it gives anybody the handle to read one.
        let mut destination = unsafe { destination.assume_init() };
        self.write(source, &mut destination)?;
        Ok(destination)
    }

    /// Waits for this stream and gives memory in its order back at rest, while the scope goes on (`cuStreamSynchronize`).
    ///
    /// For memory that was allocated in the scope this is the way out of it. A view that was lent may be lent anew, to any stream, or
    /// used at rest. Other streams are not waited for: what they did with the memory before it was [taken](Self::take) over, this
    /// stream has waited for.
    ///
    /// # Errors
    /// That of the work, or what the driver returns. What was allocated in the scope is freed then; what was lent comes back to its
    /// owner at the end of the scope.
    ///
    /// # Aborts
    /// When the wait fails in a way that does not prove the work has stopped.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.stream()?;
    /// let sevens = stream.scope(|s| {
    ///     let mut memory = s.zeros::<u32>(3)?;
    ///     s.fill(&mut memory, 7)?;
    ///     let memory = s.finish(memory)?;
    ///     assert_eq!(memory.to_vec()?, [7, 7, 7]); // at rest, and the scope goes on
    ///     Ok(memory)
    /// })?;
    /// assert_eq!(sevens.to_vec()?, [7, 7, 7]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn finish<B: HandOver<'scope, 'ctx>>(self, memory: Ordered<'s, B>) -> Result<B> {
        let state = self.context().state();
        // Whatever is pending on the memory is in the order of this stream: it was allocated or lent here, or taken over, which made
        // this stream wait for the one before; the handle, which every operation on the memory needs, is consumed here, and so are
        // its parts, since a part is divided off for good or borrows the handle. A copy from another context that wrote it
        // (`Transfer::enqueue`) made this stream wait for it. So when this stream has come to its end the memory is at rest (C5, C6).
        wait(state, self.stream().as_raw())?;
        let mut memory = memory.into_memory();
        memory.freed_on(state.service());
        Ok(memory)
    }
}

impl<'s, 'ctx, T: Pod> Ordered<'s, Buffer<'ctx, MaybeUninit<T>>> {
    /// The same memory, now said to hold values.
    ///
    /// # Safety
    /// As [`Buffer::assume_init`]: nothing reads an element before something has written it, in the order of this stream.
    #[must_use]
    pub unsafe fn assume_init(self) -> Ordered<'s, Buffer<'ctx, T>> {
        self.map(|buffer| {
            // SAFETY: the caller's promise.
            unsafe { buffer.assume_init() }
        })
    }
}
