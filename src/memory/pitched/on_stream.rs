//! Rows in the order of a stream.

use super::pitched::PitchedBuffer;
use super::slice::{PitchedSlice, PitchedSliceMut};
use crate::error::Result;
use crate::extent::{Axis, Extent};
use crate::ffi::CUstream;
use crate::memory::{HandOver, OnStream, sealed};
use std::ops::RangeBounds;

/// What a handle of rows can do, owned or borrowed.
macro_rules! handle {
    () => {
        /// Number of elements in each direction.
        #[must_use]
        pub fn extent(&self) -> Extent {
            self.memory().extent()
        }

        /// Whether there are no elements.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.memory().is_empty()
        }

        /// Bytes from the start of one row to the start of the next, for a kernel.
        #[must_use]
        pub fn pitch_bytes(&self) -> usize {
            self.memory().pitch_bytes()
        }

        /// Elements from the start of one row to the start of the next, when that is a whole
        /// number.
        #[must_use]
        pub fn pitch_elements(&self) -> Option<usize> {
            self.memory().pitch_elements()
        }

        /// Rows from the start of one slice to the start of the next, for a kernel.
        #[must_use]
        pub fn slice_rows(&self) -> usize {
            self.memory().slice_rows()
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
        ) -> Result<OnStream<'s, PitchedSlice<'_, 'ctx, T>>> {
            let part = self.memory().as_slice().region(x, y, z)?;
            Ok(OnStream::new(part, self.brand()))
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
        ) -> Result<OnStream<'s, PitchedSliceMut<'_, 'ctx, T>>> {
            let brand = self.brand();
            Ok(OnStream::new(self.memory_mut().region_mut(x, y, z)?, brand))
        }
    };
}

impl<'s, 'ctx, T> OnStream<'s, PitchedBuffer<'ctx, T>> {
    handle!();
}

impl<'s, 'b, 'ctx, T> OnStream<'s, PitchedSliceMut<'b, 'ctx, T>> {
    handle!();

    /// The elements before `middle` along `axis` and those from it on, each a handle of its own.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) when `middle` is past the end.
    pub fn split_at_mut(self, axis: Axis, middle: usize) -> Result<(Self, Self)> {
        let brand = self.brand();
        let (head, tail) = self.into_memory().split_at_mut(axis, middle)?;
        Ok((OnStream::new(head, brand), OnStream::new(tail, brand)))
    }
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for PitchedBuffer<'ctx, T> {
    fn freed_on(&mut self, stream: CUstream, _: sealed::Token) {
        self.free_on(stream);
    }
}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for PitchedSliceMut<'scope, 'ctx, T> {
    fn freed_on(&mut self, _: CUstream, _: sealed::Token) {}
}
