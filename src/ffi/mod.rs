//! The driver API as it is: types, the table of entry points, how the table is filled, and one thin function per call.
//!
//! Everything here speaks C. It is public for code that has to leave this crate's guarantees: a wrapper that needs an entry point
//! this crate does not have, a benchmark that compares with the raw call, a driver of one's own ([`Driver::from_symbols`]).
//!
//! [`Driver::from_symbols`]: crate::Driver::from_symbols

pub(crate) mod calls;
mod library;
mod results;
mod symbols;
#[allow(non_camel_case_types, non_snake_case)]
mod types;

pub(crate) use library::{DRIVER_NAMES, MINIMUM_VERSION, open};
#[cfg(feature = "sim")]
pub(crate) use results::RESULTS;
pub use symbols::{NeedsContext, Presence, SYMBOLS, Symbol, Symbols};
pub use types::*;
