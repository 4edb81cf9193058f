//! x
#![allow(missing_docs, dead_code, unreachable_pub)]
#![forbid(unsafe_code)]
mod check;
mod exec;
mod memory;
mod program;
mod text;
pub use check::*;
pub use exec::{launch, Options, Shape};
pub use memory::{Memory, Region, Storage};
pub use program::*;
pub use text::position::ParseError;
pub use text::types::{Type,Space};
