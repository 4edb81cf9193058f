//! Execution: warp by warp, each step over 32 lanes.

mod access;
mod atomic;
mod call;
mod convert;
pub(crate) mod exact;
mod flow;
mod frame;
pub(crate) mod fused;
mod grid;
pub(crate) mod lanes;
mod launch;
mod load;
mod mbarrier;
mod print;
mod private;
mod report;
mod runs;
mod seen;
mod steps;
mod store;
mod team;
mod vote;
mod warp;
mod worker;

pub use launch::{Options, Shape, launch};
