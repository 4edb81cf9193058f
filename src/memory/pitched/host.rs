//! Rows in host memory.

use super::region::{Side, Start};
use crate::error::{Error, Result};
use crate::extent::{Extent, HostLayout};
use crate::memory::sealed::Token;
use crate::memory::{PinnedBuffer, resolve, same_len};
use std::fmt;
use std::ops::RangeBounds;

impl HostLayout {
    /// Checks that a box lies within `len` elements and that its rows do not overlap.
    fn check(self, extent: Extent, len: usize) -> Result<()> {
        if extent.is_empty() {
            return Ok(());
        }
        let rows_overlap = extent.height > 1 && self.row_stride < extent.width;
        let slices_overlap =
            extent.depth > 1 && (self.slice_rows < extent.height || self.row_stride < extent.width);
        if rows_overlap || slices_overlap {
            return Err(Error::RowsOverlap {
                extent,
                layout: self,
            });
        }
        match self.end(extent) {
            Some(end) if end <= len => Ok(()),
            end => Err(Error::OutOfRange {
                start: 0,
                end: end.unwrap_or(usize::MAX),
                len,
            }),
        }
    }

    /// One past the last element of a box that is not empty.
    fn end(self, extent: Extent) -> Option<usize> {
        let slices = (extent.depth - 1).checked_mul(self.slice_rows)?;
        let rows = slices.checked_add(extent.height - 1)?;
        rows.checked_mul(self.row_stride)?.checked_add(extent.width)
    }

    /// The first element and the extent of a part of a box that passed [`check`](Self::check).
    fn part(
        self,
        extent: Extent,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<(usize, Extent)> {
        let (x, width) = resolve(x, extent.width)?;
        let (y, height) = resolve(y, extent.height)?;
        let (z, depth) = resolve(z, extent.depth)?;
        let part = Extent {
            width,
            height,
            depth,
        };
        // An element of the box, so this is below the length of the slice.
        let first = match part.is_empty() {
            true => 0,
            false => (z * self.slice_rows + y) * self.row_stride + x,
        };
        Ok((first, part))
    }

    fn side<T>(self, start: Start, extent: Extent) -> Side {
        // A single row may have any stride: none is used. Other strides are at most the length of a
        // slice of `T`.
        let row_stride = match extent.rows() {
            0 | 1 => extent.width,
            _ => self.row_stride,
        };
        Side {
            start,
            pitch: row_stride * size_of::<T>(),
            slice_rows: self.slice_rows,
        }
    }
}

/// A box of elements in borrowed host memory, to read: a slice and where in it the rows are.
///
/// ```
/// # use scoped_cuda::{Driver, Extent, HostRows, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// // Two rows of three elements, in an image whose rows have four.
/// let host = [1, 2, 3, 0, 4, 5, 6, 0];
/// let mut rows = ctx.zeros_rows::<u32>(Extent::new(3, 2))?;
/// rows.write(HostRows::strided(&host, Extent::new(3, 2), 4)?)?;
/// assert_eq!(rows.to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct HostRows<'h, T> {
    elements: &'h [T],
    extent: Extent,
    layout: HostLayout,
}

impl<'h, T> HostRows<'h, T> {
    /// A box of `extent` elements in `layout`, from the first element of `elements` on.
    ///
    /// # Errors
    /// [`Error::RowsOverlap`], or [`Error::OutOfRange`] when `elements` ends before the box.
    pub fn new(elements: &'h [T], extent: Extent, layout: HostLayout) -> Result<Self> {
        layout.check(extent, elements.len())?;
        Ok(Self {
            elements,
            extent,
            layout,
        })
    }

    /// Rows that start `row_stride` elements apart; slices follow each other.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn strided(elements: &'h [T], extent: Extent, row_stride: usize) -> Result<Self> {
        let slice_rows = extent.height;
        Self::new(
            elements,
            extent,
            HostLayout {
                row_stride,
                slice_rows,
            },
        )
    }

    /// Rows that follow each other; `elements` has as many as `extent`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], or [`Error::SizeOverflow`] for an extent that no memory has.
    pub fn packed(elements: &'h [T], extent: Extent) -> Result<Self> {
        same_len(elements.len(), extent.len::<T>()?)?;
        Self::new(elements, extent, HostLayout::packed(extent))
    }

    /// Number of elements in each direction.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The elements within the ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn region(
        self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<Self> {
        let (first, extent) = self.layout.part(self.extent, x, y, z)?;
        Self::new(&self.elements[first..], extent, self.layout)
    }

    pub(crate) fn side(&self) -> Side {
        let start = Start::Host(self.elements.as_ptr().cast_mut().cast());
        self.layout.side::<T>(start, self.extent)
    }
}

/// A box of elements in borrowed host memory, to write: a slice and where in it the rows are.
///
/// What lies between the rows is borrowed with them, and is not written.
pub struct HostRowsMut<'h, T> {
    elements: &'h mut [T],
    extent: Extent,
    layout: HostLayout,
}

static_assertions::assert_not_impl_any!(HostRowsMut<'static, f32>: Clone);

impl<'h, T> HostRowsMut<'h, T> {
    /// A box of `extent` elements in `layout`, from the first element of `elements` on.
    ///
    /// # Errors
    /// [`Error::RowsOverlap`], or [`Error::OutOfRange`] when `elements` ends before the box.
    pub fn new(elements: &'h mut [T], extent: Extent, layout: HostLayout) -> Result<Self> {
        layout.check(extent, elements.len())?;
        Ok(Self {
            elements,
            extent,
            layout,
        })
    }

    /// Rows that start `row_stride` elements apart; slices follow each other.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn strided(elements: &'h mut [T], extent: Extent, row_stride: usize) -> Result<Self> {
        let slice_rows = extent.height;
        Self::new(
            elements,
            extent,
            HostLayout {
                row_stride,
                slice_rows,
            },
        )
    }

    /// Rows that follow each other; `elements` has as many as `extent`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], or [`Error::SizeOverflow`] for an extent that no memory has.
    pub fn packed(elements: &'h mut [T], extent: Extent) -> Result<Self> {
        same_len(extent.len::<T>()?, elements.len())?;
        Self::new(elements, extent, HostLayout::packed(extent))
    }

    /// Number of elements in each direction.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The elements within the ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn region(
        self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Result<Self> {
        let (first, extent) = self.layout.part(self.extent, x, y, z)?;
        Self::new(&mut self.elements[first..], extent, self.layout)
    }

    pub(crate) fn side(&mut self) -> Side {
        let start = Start::Host(self.elements.as_mut_ptr().cast());
        self.layout.side::<T>(start, self.extent)
    }
}

/// Host memory that rows can be written from: [`HostRows`], or a slice, array, vector or
/// [`PinnedBuffer`] that has as many elements as the destination. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not host memory that rows of `{T}` can be written from",
    note = "pass `HostRows`, or a reference to a slice, array, `Vec` or `PinnedBuffer` of exactly this element type"
)]
pub trait RowSource<'h, T: 'h> {
    /// The rows, for a destination of `extent`.
    #[doc(hidden)]
    fn rows(self, extent: Extent, token: Token) -> Result<HostRows<'h, T>>;
}

/// Host memory that rows can be read into: [`HostRowsMut`], or a slice, array, vector or
/// [`PinnedBuffer`] that has as many elements as the source. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not host memory that rows of `{T}` can be read into",
    note = "pass `HostRowsMut`, or a mutable reference to a slice, array, `Vec` or `PinnedBuffer` of exactly this element type"
)]
pub trait RowTarget<'h, T: 'h> {
    /// The rows, for a source of `extent`.
    #[doc(hidden)]
    fn rows(self, extent: Extent, token: Token) -> Result<HostRowsMut<'h, T>>;
}

impl<'h, T> RowSource<'h, T> for HostRows<'h, T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRows<'h, T>> {
        Extent::same(self.extent, extent)?;
        Ok(self)
    }
}

impl<'h, T> RowSource<'h, T> for &'h [T] {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRows<'h, T>> {
        HostRows::packed(self, extent)
    }
}

impl<'h, T> RowSource<'h, T> for &'h Vec<T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRows<'h, T>> {
        HostRows::packed(self, extent)
    }
}

impl<'h, T, const N: usize> RowSource<'h, T> for &'h [T; N] {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRows<'h, T>> {
        HostRows::packed(self, extent)
    }
}

impl<'h, T> RowSource<'h, T> for &'h PinnedBuffer<'_, T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRows<'h, T>> {
        HostRows::packed(self, extent)
    }
}

impl<'h, T> RowTarget<'h, T> for HostRowsMut<'h, T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRowsMut<'h, T>> {
        Extent::same(extent, self.extent)?;
        Ok(self)
    }
}

impl<'h, T> RowTarget<'h, T> for &'h mut [T] {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRowsMut<'h, T>> {
        HostRowsMut::packed(self, extent)
    }
}

impl<'h, T> RowTarget<'h, T> for &'h mut Vec<T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRowsMut<'h, T>> {
        HostRowsMut::packed(self, extent)
    }
}

impl<'h, T, const N: usize> RowTarget<'h, T> for &'h mut [T; N] {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRowsMut<'h, T>> {
        HostRowsMut::packed(self, extent)
    }
}

impl<'h, T> RowTarget<'h, T> for &'h mut PinnedBuffer<'_, T> {
    fn rows(self, extent: Extent, _: Token) -> Result<HostRowsMut<'h, T>> {
        HostRowsMut::packed(self, extent)
    }
}

impl<T> Clone for HostRows<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for HostRows<'_, T> {}

impl<T> fmt::Debug for HostRows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostRows({}, {:?})", self.extent, self.layout)
    }
}

impl<T> fmt::Debug for HostRowsMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostRowsMut({}, {:?})", self.extent, self.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Extent = Extent::new(3, 2).slices(2);

    fn layout(row_stride: usize, slice_rows: usize) -> HostLayout {
        HostLayout {
            row_stride,
            slice_rows,
        }
    }

    #[test]
    fn a_box_ends_with_its_last_element() {
        let host = [0u8; 100];
        let end = (5 + 1) * 4 + 3;
        assert!(HostRows::new(&host[..end], BOX, layout(4, 5)).is_ok());
        let error = HostRows::new(&host[..end - 1], BOX, layout(4, 5)).unwrap_err();
        let (start, len) = (0, end - 1);
        assert_eq!(error, Error::OutOfRange { start, end, len });
        for (row_stride, slice_rows) in [(usize::MAX, 2), (3, usize::MAX)] {
            let error = HostRows::new(&host, BOX, layout(row_stride, slice_rows)).unwrap_err();
            let (end, len) = (usize::MAX, host.len());
            assert_eq!(error, Error::OutOfRange { start, end, len });
        }
    }

    #[test]
    fn rows_may_not_overlap() {
        let host = [0u8; 100];
        for layout in [layout(2, 2), layout(3, 1), layout(0, 0)] {
            let extent = BOX;
            let error = HostRows::new(&host, BOX, layout).unwrap_err();
            assert_eq!(error, Error::RowsOverlap { extent, layout });
        }
        // Strides that nothing uses do not matter.
        assert!(HostRows::new(&host, Extent::new(3, 1), layout(0, 0)).is_ok());
        assert!(HostRows::new(&host, Extent::new(3, 2), layout(3, 0)).is_ok());
        assert!(HostRows::new(&host[..0], Extent::new(3, 0), layout(0, 0)).is_ok());
        let rows = HostRows::new(&host, Extent::new(3, 1), layout(usize::MAX, 0)).unwrap();
        assert_eq!(rows.side().pitch, 3);
    }

    #[test]
    fn parts_are_where_they_were() {
        let host: Vec<u8> = (0..100).collect();
        let rows = HostRows::new(&host, BOX, layout(7, 4)).unwrap();
        let part = rows.region(1.., 1..2, 1..).unwrap();
        assert_eq!(part.elements[0], 7 * (4 + 1) + 1);
        assert_eq!(part.extent(), Extent::new(2, 1));
        assert!(rows.region(.., .., 2..).unwrap().extent().is_empty());
        assert!(rows.region(2..5, .., ..).is_err());
    }
}
