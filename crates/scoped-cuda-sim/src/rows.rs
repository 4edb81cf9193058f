//! Memory in rows: what strided copies and fills touch.

#![allow(unsafe_code)] // reads and writes the host memory of copies

use super::memory::Place;
use super::work::HostPointer;
use std::ptr;

/// Where a strided copy reads or writes: slices of rows, the first row at `start`.
pub(super) struct Side {
    pub(super) start: Start,
    /// Bytes from one row to the next.
    pub(super) pitch: usize,
    /// Rows from one slice to the next.
    pub(super) slice_rows: usize,
}

pub(super) enum Start {
    Host(HostPointer),
    Device(Place),
}

/// What of each side is meant.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Bytes of a row.
    pub(super) width: usize,
    /// Rows of a slice.
    pub(super) height: usize,
    pub(super) depth: usize,
}

impl Shape {
    pub(super) fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Bytes from the first to the last one of a side; `None` when that overflows. Not for an empty
    /// shape.
    pub(super) fn span(self, pitch: usize, slice_rows: usize) -> Option<usize> {
        let slices = (self.depth - 1).checked_mul(slice_rows)?;
        let rows = slices.checked_add(self.height - 1)?;
        rows.checked_mul(pitch)?.checked_add(self.width)
    }

    /// The offset of each row from the first, in order.
    fn offsets(self, pitch: usize, slice_rows: usize) -> impl Iterator<Item = usize> {
        (0..self.depth)
            .flat_map(move |z| (0..self.height).map(move |y| (z * slice_rows + y) * pitch))
    }
}

impl Side {
    fn span(&self, shape: Shape) -> Result<usize, String> {
        shape
            .span(self.pitch, self.slice_rows)
            .ok_or_else(|| "a strided copy is larger than the address space".to_owned())
    }

    /// The rows without what lies between them.
    pub(super) fn gather(&self, shape: Shape) -> Result<Vec<u8>, String> {
        let mut rows = Vec::new();
        let offsets = shape.offsets(self.pitch, self.slice_rows);
        match &self.start {
            Start::Host(from) => {
                for offset in offsets {
                    let end = rows.len();
                    rows.resize(end + shape.width, 0);
                    let from = from.0.cast::<u8>().wrapping_add(offset);
                    // SAFETY: the caller of the copy promised readable rows until the copy has run;
                    // the vector has just grown by one.
                    unsafe { ptr::copy_nonoverlapping(from, rows[end..].as_mut_ptr(), shape.width) }
                }
            }
            Start::Device(from) => from.with(self.span(shape)?, |from| {
                offsets.for_each(|offset| rows.extend(&from[offset..offset + shape.width]));
            })?,
        }
        Ok(rows)
    }

    /// Writes rows, and nothing that lies between them.
    pub(super) fn scatter(&self, shape: Shape, rows: &[u8]) -> Result<(), String> {
        let rows = rows.chunks_exact(shape.width);
        let places = shape.offsets(self.pitch, self.slice_rows).zip(rows);
        match &self.start {
            Start::Host(to) => places.for_each(|(offset, row)| {
                let to = to.0.cast::<u8>().wrapping_add(offset);
                // SAFETY: the caller of the copy promised writable rows until the copy has run.
                unsafe { ptr::copy_nonoverlapping(row.as_ptr(), to, row.len()) }
            }),
            Start::Device(to) => to.with(self.span(shape)?, |to| {
                places
                    .for_each(|(offset, row)| to[offset..offset + row.len()].copy_from_slice(row));
            })?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_and_scattered_and_nothing_between_them() {
        let shape = Shape {
            width: 2,
            height: 2,
            depth: 2,
        };
        let mut host: Vec<u8> = (0..20).collect();
        let side = Side {
            start: Start::Host(HostPointer(host.as_mut_ptr().cast())),
            pitch: 3,
            slice_rows: 3,
        };
        assert_eq!(side.gather(shape), Ok(vec![0, 1, 3, 4, 9, 10, 12, 13]));
        assert_eq!(side.scatter(shape, &[99; 8]), Ok(()));
        let untouched = [2, 5, 6, 7, 8, 11, 14, 15, 16, 17, 18, 19];
        let expected: Vec<u8> = (0..20)
            .map(|i| if untouched.contains(&i) { i } else { 99 })
            .collect();
        assert_eq!(host, expected);
    }

    #[test]
    fn a_span_ends_with_the_last_row() {
        let shape = Shape {
            width: 2,
            height: 2,
            depth: 2,
        };
        assert_eq!(shape.span(3, 3), Some(14));
        assert_eq!(shape.span(usize::MAX, 3), None);
        assert_eq!(shape.span(1, usize::MAX), None);
    }
}
