//! The geometry of rows: how many elements there are in each direction, and how far apart.

use std::fmt;

/// The size of a box of elements: `width` elements in a row, `height` rows in a slice, `depth`
/// slices. An image has depth 1.
///
/// ```
/// use scoped_cuda::Extent;
///
/// let image = Extent::new(640, 480);
/// assert_eq!(image, Extent { width: 640, height: 480, depth: 1 });
/// assert_eq!(image.slices(3).elements(), Some(3 * 640 * 480));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extent {
    /// Elements in a row.
    pub width: usize,
    /// Rows in a slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

/// A direction in a box of elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Axis {
    /// Along a row, element by element.
    X,
    /// From row to row.
    Y,
    /// From slice to slice.
    Z,
}

impl Extent {
    /// One slice of `height` rows with `width` elements each.
    #[must_use]
    pub const fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            depth: 1,
        }
    }

    /// `depth` slices like these.
    #[must_use]
    pub const fn slices(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// Number of elements; `None` when that does not fit a `usize`.
    #[must_use]
    pub const fn elements(self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        match self.width.checked_mul(self.height) {
            Some(slice) => slice.checked_mul(self.depth),
            None => None,
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            width,
            height,
            depth,
        } = self;
        write!(f, "{width} x {height} x {depth}")
    }
}

/// How far apart rows and slices are in host memory.
///
/// The element at x, y, z is number `x + (z * slice_rows + y) * row_stride` of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostLayout {
    /// Elements from one row to the next; at least the width.
    pub row_stride: usize,
    /// Rows from one slice to the next; at least the height.
    pub slice_rows: usize,
}

impl HostLayout {
    /// Each row after the one before, and each slice.
    #[must_use]
    pub const fn packed(extent: Extent) -> Self {
        Self {
            row_stride: extent.width,
            slice_rows: extent.height,
        }
    }
}
