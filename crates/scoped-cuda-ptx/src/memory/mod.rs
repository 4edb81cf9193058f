//! Memory that kernels see: what a host provides, and what is known of each byte.

mod cells;
mod region;
mod shadow;

pub(crate) use cells::{CLOCK_MAX, Cells, Conflict, Tag, Visitor, WARP_MASK, Walker};
pub use region::{Memory, Region, Storage};
pub(crate) use region::{get, put};
pub(crate) use shadow::Shadow;
