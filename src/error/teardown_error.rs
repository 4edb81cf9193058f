//! Errors that destructors meet.

use super::Error;

/// An error that a `Drop` met, where nobody could be told.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TeardownError {
    /// The device whose object was being dropped.
    pub ordinal: u32,
    /// What went wrong.
    pub error: Error,
}
