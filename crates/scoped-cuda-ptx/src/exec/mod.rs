//! x
pub(crate) mod exact;
pub(crate) mod fused;
pub(crate) mod lanes;
