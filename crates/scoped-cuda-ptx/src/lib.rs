//! x
#![allow(missing_docs, dead_code, unreachable_pub)]
mod exec;
mod program;
mod text;
pub use program::*;
pub use text::types::{Type,Space};
