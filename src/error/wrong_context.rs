//! What is handed back where another context was entered than the one that is needed.

use super::Error;
use std::fmt;

/// A value that was asked for in a context that is not its own, and the error that says which is.
/// `?` turns it into the [`Error`] and drops the value.
#[non_exhaustive]
pub struct WrongContext<T> {
    /// The value, as it was.
    pub value: T,
    /// [`Error::WrongContext`].
    pub error: Error,
}

static_assertions::assert_not_impl_any!(WrongContext<u8>: Clone);

impl<T> WrongContext<T> {
    pub(crate) fn new(value: T, error: Error) -> Self {
        Self { value, error }
    }
}

impl<T> From<WrongContext<T>> for Error {
    fn from(refused: WrongContext<T>) -> Self {
        refused.error
    }
}

impl<T> fmt::Debug for WrongContext<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WrongContext").field(&self.error).finish()
    }
}

impl<T> fmt::Display for WrongContext<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for WrongContext<T> {}
