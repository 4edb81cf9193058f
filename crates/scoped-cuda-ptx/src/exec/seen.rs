//! What a thread knows of the order of accesses.

use super::grid::Grid;
use crate::memory::{CLOCK_MAX, Tag, Visitor, WARP_MASK};

/// What a thread knows of the order of accesses.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'w> {
    pub(crate) clocks: &'w [u32],
    pub(crate) first_warp: u32,
    pub(crate) has_acquired: bool,
    pub(crate) grid: &'w Grid<'w>,
}

impl Visitor for Seen<'_> {
    fn is_ordered(&self, earlier: Tag, _: Tag) -> bool {
        if earlier.clock() >= CLOCK_MAX {
            return true;
        }
        let warp = earlier.warp().wrapping_sub(self.first_warp) & WARP_MASK;
        let is_known = self
            .clocks
            .get(warp as usize)
            .is_some_and(|clock| earlier.clock() < *clock);
        is_known || (self.has_acquired && self.grid.is_released(earlier))
    }
}
