//! The CUDA driver API as it is: its types and result codes, the table of entry points, and how
//! the table is filled.
//!
//! Everything here speaks C. The crate `scoped-cuda` builds on it and exports it as
//! `scoped_cuda::ffi`, for code that has to leave that crate's guarantees: a wrapper of an entry
//! point that it does not have, a benchmark that compares with the raw call, a driver of one's own.
//! Nothing of CUDA is needed to build it.

mod library;
mod load_error;
mod results;
mod symbols;
#[allow(non_camel_case_types, non_snake_case)]
mod types;
mod version;

pub use library::{DRIVER_NAMES, GetAddress, MINIMUM_VERSION, open};
pub use load_error::LoadError;
pub use results::RESULTS;
pub use symbols::{NeedsContext, Presence, SYMBOLS, Symbol, Symbols};
pub use types::*;
pub use version::Version;
