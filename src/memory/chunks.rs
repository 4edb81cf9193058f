//! Dividing memory into parts that different streams write.

use super::{Buffer, Slice, SliceMut};
use crate::error::{Error, Result};
use std::fmt;

impl<'b, 'ctx, T> SliceMut<'b, 'ctx, T> {
    /// The elements in parts of `len`, of which the last may be shorter. No two parts overlap, so
    /// each may go to another stream.
    ///
    /// # Errors
    /// [`Error::EmptyChunks`] when `len` is 0.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, scope, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let streams = [ctx.new_stream()?, ctx.new_stream()?, ctx.new_stream()?];
    /// let mut buffer = ctx.zeros::<u32>(5)?;
    /// let chunks = buffer.as_mut_slice().chunks_mut(2)?;
    /// scope(|scope| {
    ///     for ((chunk, stream), value) in chunks.zip(&streams).zip(1..) {
    ///         scope.on(stream, |s| s.fill(&mut chunk.lend(s), value))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(buffer.to_vec()?, [1, 1, 2, 2, 3]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn chunks_mut(self, len: usize) -> Result<ChunksMut<'b, 'ctx, T>> {
        if len == 0 {
            return Err(Error::EmptyChunks);
        }
        Ok(ChunksMut {
            rest: Some(self),
            len,
        })
    }
}

impl<'b, 'ctx, T> Slice<'b, 'ctx, T> {
    /// The elements in parts of `len`, of which the last may be shorter.
    ///
    /// # Errors
    /// [`Error::EmptyChunks`] when `len` is 0.
    pub fn chunks(self, len: usize) -> Result<Chunks<'b, 'ctx, T>> {
        if len == 0 {
            return Err(Error::EmptyChunks);
        }
        Ok(Chunks { rest: self, len })
    }
}

impl<'ctx, T> Buffer<'ctx, T> {
    /// As [`Slice::chunks`], of all elements.
    ///
    /// # Errors
    /// [`Error::EmptyChunks`] when `len` is 0.
    pub fn chunks(&self, len: usize) -> Result<Chunks<'_, 'ctx, T>> {
        self.as_slice().chunks(len)
    }

    /// As [`SliceMut::chunks_mut`], of all elements.
    ///
    /// # Errors
    /// [`Error::EmptyChunks`] when `len` is 0.
    pub fn chunks_mut(&mut self, len: usize) -> Result<ChunksMut<'_, 'ctx, T>> {
        self.as_mut_slice().chunks_mut(len)
    }
}

/// The parts of a [`Slice`], one after the other. Made by [`Slice::chunks`].
#[derive(Clone, Debug)]
pub struct Chunks<'b, 'ctx, T> {
    rest: Slice<'b, 'ctx, T>,
    len: usize,
}

static_assertions::assert_impl_all!(Chunks<'static, 'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'b, 'ctx, T> Iterator for Chunks<'b, 'ctx, T> {
    type Item = Slice<'b, 'ctx, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let middle = self.len.min(self.rest.len());
        // `middle` is within, so this is never an error.
        let (chunk, rest) = self.rest.split_at(middle).ok()?;
        self.rest = rest;
        Some(chunk).filter(|chunk| !chunk.is_empty())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let chunks = self.rest.len().div_ceil(self.len);
        (chunks, Some(chunks))
    }
}

impl<T> ExactSizeIterator for Chunks<'_, '_, T> {}

/// The parts of a [`SliceMut`], one after the other. Made by [`SliceMut::chunks_mut`].
pub struct ChunksMut<'b, 'ctx, T> {
    /// What was not given out; `None` only while it is being divided.
    rest: Option<SliceMut<'b, 'ctx, T>>,
    len: usize,
}

static_assertions::assert_not_impl_any!(ChunksMut<'static, 'static, f32>: Clone);

static_assertions::assert_impl_all!(ChunksMut<'static, 'static, f32>: Send, Sync, std::panic::RefUnwindSafe);

impl<'b, 'ctx, T> Iterator for ChunksMut<'b, 'ctx, T> {
    type Item = SliceMut<'b, 'ctx, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take().filter(|rest| !rest.is_empty())?;
        let middle = self.len.min(rest.len());
        // `middle` is within, so this is never an error.
        let (chunk, rest) = rest.split_at_mut(middle).ok()?;
        self.rest = Some(rest);
        Some(chunk)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let elements = self.rest.as_ref().map_or(0, SliceMut::len);
        let chunks = elements.div_ceil(self.len);
        (chunks, Some(chunks))
    }
}

impl<T> ExactSizeIterator for ChunksMut<'_, '_, T> {}

impl<T> fmt::Debug for ChunksMut<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunksMut")
            .field("rest", &self.rest)
            .field("len", &self.len)
            .finish()
    }
}
