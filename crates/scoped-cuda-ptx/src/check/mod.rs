//! What a kernel did wrong.

mod finding;

pub use finding::{Access, Class, Finding, Nearest, Thread};
