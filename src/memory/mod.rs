//! Device memory: owned buffers, views of them, and both in the order of a stream.

mod buffer;
mod cast;
mod chunks;
mod element;
mod fill;
mod in_scope;
mod linear_on_stream;
mod managed;
mod on_stream;
mod pinned;
mod pitched;
mod registered;
mod slice;
mod usage;
mod write_combined;

pub use crate::extent::{Axis, HostLayout};
pub use buffer::{Buffer, ScopedBuffer};
pub use chunks::{Chunks, ChunksMut};
pub use element::Element;
pub use fill::Fill;
pub(crate) use fill::Pattern;
pub use managed::{ManagedBuffer, MemoryAdvice, MemoryLocation};
pub(crate) use on_stream::HandOver;
pub use on_stream::{OnStream, Readable};
pub use pinned::PinnedBuffer;
pub(crate) use pitched::ReadableRows;
pub(crate) use pitched::region;
pub use pitched::{
    HostRows, HostRowsMut, LentRows, PitchedBuffer, PitchedMemory, PitchedMemoryMut, PitchedSlice,
    PitchedSliceMut,
};
pub use slice::{LentSlice, Slice, SliceMut};
pub use usage::MemoryUsage;
pub use write_combined::WriteCombinedBuffer;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::CUdeviceptr;
use std::ops::{Bound, RangeBounds};

/// Device memory of a context: a [`Buffer`], a [`Slice`] or a [`SliceMut`].
///
/// Sealed: an implementation vouches that `len` elements at the address are allocated on the
/// context's device, or are host memory that the device reaches under it (claim C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}`",
    note = "device memory is a `Buffer`, a `Slice` or a `SliceMut` of the same context and element type"
)]
pub trait Memory<'ctx, T>: sealed::SealedFor<T> + sealed::Near {
    /// The context whose device has the memory.
    fn context(&self) -> Context<'ctx>;

    /// Number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device address; 0 for empty memory. A number: only a kernel can do something with it.
    fn as_raw(&self) -> CUdeviceptr;
}

/// Device memory that may be written: a [`Buffer`] or a [`SliceMut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}` that may be written",
    note = "a `Buffer` or a `SliceMut` of the same context and element type may"
)]
pub trait MemoryMut<'ctx, T>: Memory<'ctx, T> + sealed::SealedFor<T, sealed::Writing> {}

pub(crate) mod sealed {
    /// Keeps other crates from implementing a trait.
    pub trait Sealed {}

    /// The same for a trait with a type parameter: without `T` here, another crate could implement
    /// it for a type of this crate and an element type of its own, which the orphan rule allows.
    /// And without `Trait`, it could implement one of the sealed traits for a type of this crate
    /// that is sealed for another one only: make a shared view writable, for example.
    pub trait SealedFor<T, Trait = Holding> {}

    /// [`SealedFor`] the trait `Memory`.
    pub struct Holding;

    /// [`SealedFor`] the trait `MemoryMut`.
    pub struct Writing;

    /// [`SealedFor`] the trait `Readable`.
    pub struct Reading;

    /// Memory that the context's own device has or shares, for any use. What lacks this is no
    /// memory of any element type, for the compiler too: of a trait with a type parameter it
    /// supposes that another crate implements it for a parameter of its own.
    pub trait Near {}

    /// In the signature of a method, keeps other crates from implementing its trait for anything:
    /// they cannot name it.
    #[derive(Clone, Copy)]
    pub struct Token;
}

/// A vector of `len` copies of `value`, bit by bit: the `Clone` of an element type is code of the
/// user, which may disagree with its `Copy`.
pub(crate) fn all<T: Copy>(value: T, len: usize) -> Vec<T> {
    std::iter::repeat_with(|| value).take(len).collect()
}

/// The size of `len` elements in bytes, if an address can count them.
pub(crate) fn size_of_elements<T>(len: usize) -> Result<usize> {
    let element_bytes = size_of::<T>();
    // No allocation is larger than isize::MAX bytes, in Rust as in the driver.
    len.checked_mul(element_bytes)
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(Error::SizeOverflow { len, element_bytes })
}

/// First element and number of elements of `range` in memory of `len` elements.
pub(crate) fn resolve(range: impl RangeBounds<usize>, len: usize) -> Result<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&start) => start.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok((start, end - start)),
        _ => Err(Error::OutOfRange {
            start: start.unwrap_or(usize::MAX),
            end: end.unwrap_or(usize::MAX),
            len,
        }),
    }
}

/// Whether a copy from `source_len` to `destination_len` elements has one length.
pub(crate) fn same_len(source_len: usize, destination_len: usize) -> Result<()> {
    if source_len == destination_len {
        Ok(())
    } else {
        Err(Error::LengthMismatch {
            source_len,
            destination_len,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_checked_where_it_wraps() {
        assert_eq!(size_of_elements::<u32>(3), Ok(12));
        assert_eq!(
            size_of_elements::<u32>(1 << 62),
            Err(Error::SizeOverflow {
                len: 1 << 62,
                element_bytes: 4
            })
        );
        assert_eq!(
            size_of_elements::<u8>(usize::MAX),
            Err(Error::SizeOverflow {
                len: usize::MAX,
                element_bytes: 1
            })
        );
    }

    #[test]
    fn range_lies_within() {
        assert_eq!(resolve(1..3, 4), Ok((1, 2)));
        assert_eq!(resolve(.., 4), Ok((0, 4)));
        assert_eq!(resolve(4.., 4), Ok((4, 0)));
        assert_eq!(resolve(..=3, 4), Ok((0, 4)));
        assert_eq!(
            resolve(2..5, 4),
            Err(Error::OutOfRange {
                start: 2,
                end: 5,
                len: 4
            })
        );
        #[allow(clippy::reversed_empty_ranges)] // the case under test
        let reversed = resolve(3..1, 4);
        assert_eq!(
            reversed,
            Err(Error::OutOfRange {
                start: 3,
                end: 1,
                len: 4
            })
        );
        assert_eq!(
            resolve(..=usize::MAX, 4),
            Err(Error::OutOfRange {
                start: 0,
                end: usize::MAX,
                len: 4
            })
        );
    }
}
