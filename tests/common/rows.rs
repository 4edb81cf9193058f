//! Values for boxes of elements.

#![allow(dead_code)] // each test binary uses a part

use scoped_cuda::Extent;

/// What host memory holds where nothing may be written.
pub(crate) const CANARY: u32 = 0xDEAD_BEEF;

/// A value for each element, so that a shifted or partial copy shows.
pub(crate) fn numbers(extent: Extent) -> Vec<u32> {
    (0..extent.elements().unwrap() as u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect()
}

/// The elements of a box within one of extent `whole`, in order.
pub(crate) fn part(whole: Extent, elements: &[u32], from: [usize; 3], extent: Extent) -> Vec<u32> {
    let mut found = Vec::new();
    for z in from[2]..from[2] + extent.depth {
        for y in from[1]..from[1] + extent.height {
            let row = (z * whole.height + y) * whole.width + from[0];
            found.extend(&elements[row..row + extent.width]);
        }
    }
    found
}
