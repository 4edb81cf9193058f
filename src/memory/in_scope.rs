//! Memory that is made in a scope, and memory that comes back to rest before the scope ends.

#![allow(unsafe_code)] // vouches for what was written

use super::{
    Buffer, Element, Fill, MemoryMut, OnStream, Pattern, Readable, ScopedBuffer, same_len,
};
use crate::error::Result;
use crate::internal::{calls, current};
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::mem::MaybeUninit;

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Allocates `len` elements in the order of this stream, all bytes zero. Dropping the handle
    /// frees them in the same order (`cuMemAllocFromPoolAsync`, `cuMemsetD8Async`,
    /// `cuMemFreeAsync`).
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver returns.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemFreeAsync")]
    #[doc(alias = "alloc_zeros")]
    pub fn zeros<T: Pod>(self, len: usize) -> Result<ScopedBuffer<'s, 'ctx, T>> {
        let buffer = Buffer::allocate(self.context(), len, self.stream().as_raw())?;
        let bytes = buffer.size_bytes();
        if bytes > 0 {
            let (driver, stream) = (self.state().api(), self.stream().as_raw());
            // SAFETY: `bytes` were allocated in the order of this stream, and are freed in it (C6).
            self.explained(unsafe {
                calls::memset_d8_async(driver, buffer.as_raw(), 0, bytes, stream)
            })?;
        }
        Ok(OnStream::new(buffer, self.brand()))
    }

    /// Copies `source` to `destination`, which has as many elements (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "memcpy_htod")]
    pub fn write<T: Pod>(
        self,
        source: &'scope [T],
        destination: &mut OnStream<'s, impl MemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let to = destination.memory_mut();
        same_len(source.len(), to.len())?;
        let bytes = size_of_val(source);
        if bytes == 0 {
            return Ok(());
        }
        let (state, from, stream) = (self.state(), source.as_ptr().cast(), self.stream().as_raw());
        self.stream().loans().lend();
        // SAFETY: both sides have `bytes`; the host's stay borrowed for `'scope`, which ends after
        // the wait (C5, C6); the device's are in this stream's order, so whatever touches them next
        // does so after this copy.
        current::bind(state, || unsafe {
            calls::memcpy_htod_async(state.api(), to.as_raw(), from, bytes, stream)
        })
    }

    /// Copies `source` to `destination`, which has as many elements (`cuMemcpyDtoHAsync`).
    ///
    /// When `destination` is ordinary memory the driver keeps the calling thread until the copy is
    /// done; it only overlaps with other work when it is page-locked: a
    /// [`PinnedBuffer`](crate::PinnedBuffer), or registered with
    /// [`Context::with_registered`](crate::Context::with_registered).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "memcpy_dtoh")]
    pub fn read<T: Pod>(
        self,
        source: impl Readable<'s, 'scope, 'ctx, T>,
        destination: &'scope mut [T],
    ) -> Result<()> {
        let (from, len) = source.region();
        same_len(len, destination.len())?;
        let bytes = size_of_val(destination);
        if bytes == 0 {
            return Ok(());
        }
        let (state, to, stream) = (
            self.state(),
            destination.as_mut_ptr().cast(),
            self.stream().as_raw(),
        );
        self.stream().loans().lend();
        // SAFETY: as in `write`; any bits are a valid `T` (`Pod`), and a source at rest is not
        // written before the wait.
        current::bind(state, || unsafe {
            calls::memcpy_dtoh_async(state.api(), to, from, bytes, stream)
        })
    }

    /// Copies `source` to `destination`, memory of the same device with as many elements
    /// (`cuMemcpyDtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    #[doc(alias = "cuMemcpyDtoDAsync")]
    #[doc(alias = "memcpy_dtod")]
    pub fn copy<T: Pod>(
        self,
        source: impl Readable<'s, 'scope, 'ctx, T>,
        destination: &mut OnStream<'s, impl MemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let (from, len) = source.region();
        let to = destination.memory_mut();
        same_len(len, to.len())?;
        let bytes = len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (state, stream) = (self.state(), self.stream().as_raw());
        // SAFETY: both sides have `bytes` on this device (equal brands, C2) and do not overlap
        // (`destination` is a mutable borrow of all handles to its memory); order as in `write`.
        current::bind(state, || unsafe {
            calls::memcpy_dtod_async(state.api(), to.as_raw(), from, bytes, stream)
        })
    }

    /// Sets every element of `destination` to `value` (`cuMemsetD8Async`, `cuMemsetD16Async` or
    /// `cuMemsetD32Async`).
    ///
    /// # Errors
    /// What the driver returns.
    #[inline]
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemsetD16Async")]
    #[doc(alias = "cuMemsetD32Async")]
    pub fn fill<T: Fill>(
        self,
        destination: &mut OnStream<'s, impl MemoryMut<'ctx, T>>,
        value: T,
    ) -> Result<()> {
        let to = destination.memory_mut();
        let (Some(pattern), false) = (Pattern::of(&value), to.is_empty()) else {
            return Ok(());
        };
        // SAFETY: the elements are in this stream's order (C6) and on its device (equal brands,
        // C2).
        self.explained(unsafe {
            pattern.fill(
                self.state().api(),
                to.as_raw(),
                to.len(),
                self.stream().as_raw(),
            )
        })
    }

    /// Allocates `len` elements in the order of this stream, with whatever was there before as
    /// their content (`cuMemAllocFromPoolAsync`). Dropping the handle frees them in the same order.
    ///
    /// The element type says so: nothing reads a `MaybeUninit<T>`. [`write_init`](Self::write_init)
    /// fills it from the host, [`OnStream::assume_init`] promises that a kernel does.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver returns.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    pub fn uninit<T: Element>(self, len: usize) -> Result<ScopedBuffer<'s, 'ctx, MaybeUninit<T>>> {
        let buffer = Buffer::allocate(self.context(), len, self.stream().as_raw())?;
        Ok(OnStream::new(buffer, self.brand()))
    }

    /// Allocates device memory in the order of this stream and copies `source` to it
    /// (`cuMemAllocFromPoolAsync`, `cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let host = [1u32, 2, 3];
    /// let buffer = stream.scope(|s| {
    ///     let memory = s.upload(&host)?;
    ///     memory.release(s)
    /// })?;
    /// assert_eq!(buffer.to_vec()?, host);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "clone_htod")]
    pub fn upload<T: Element>(self, source: &'scope [T]) -> Result<ScopedBuffer<'s, 'ctx, T>> {
        let memory = self.uninit(source.len())?;
        self.write_init(source, memory)
    }

    /// Copies `source` to memory that had no content yet and has as many elements, which makes it
    /// memory of `T` (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns; the
    /// memory is freed then.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let (host, mut back) = ([1u32, 2, 3], [0; 3]);
    /// stream.scope(|s| {
    ///     let memory = s.uninit(3)?; // nothing can read it yet
    ///     let memory = s.write_init(&host, memory)?;
    ///     s.read(&memory, &mut back)
    /// })?;
    /// assert_eq!(back, host);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn write_init<T: Element>(
        self,
        source: &'scope [T],
        destination: ScopedBuffer<'s, 'ctx, MaybeUninit<T>>,
    ) -> Result<ScopedBuffer<'s, 'ctx, T>> {
        same_len(source.len(), destination.len())?;
        // SAFETY: this very call writes every element, before it gives anybody the handle to read
        // one.
        let mut destination = unsafe { destination.assume_init() };
        self.write(source, &mut destination)?;
        Ok(destination)
    }
}

impl<'s, 'ctx, T: Pod> OnStream<'s, Buffer<'ctx, MaybeUninit<T>>> {
    /// The same memory, now said to hold values.
    ///
    /// # Safety
    /// As [`Buffer::assume_init`]: nothing reads an element before something has written it, in the
    /// order of this stream.
    #[must_use]
    pub unsafe fn assume_init(self) -> ScopedBuffer<'s, 'ctx, T> {
        self.map(|buffer| {
            // SAFETY: the caller promises what `Buffer::assume_init` asks for: nothing reads an
            // element before something has written it, in the order of this stream.
            unsafe { buffer.assume_init() }
        })
    }
}
