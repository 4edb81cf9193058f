//! What memory asks of an extent.

use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::memory::size_of_elements;

impl Extent {
    /// Number of elements of type `T`, whose bytes an address can count.
    pub(crate) fn len<T>(self) -> Result<usize> {
        let len = self.elements().ok_or(Error::SizeOverflow {
            len: usize::MAX,
            element_bytes: size_of::<T>(),
        })?;
        size_of_elements::<T>(len)?;
        Ok(len)
    }

    /// Rows in all slices together.
    pub(crate) fn rows(self) -> usize {
        self.height * self.depth
    }

    /// Whether a copy from `source` to `destination` has one extent.
    pub(crate) fn same(source: Self, destination: Self) -> Result<()> {
        if source == destination {
            Ok(())
        } else {
            Err(Error::ExtentMismatch {
                source_extent: source,
                destination_extent: destination,
            })
        }
    }
}
