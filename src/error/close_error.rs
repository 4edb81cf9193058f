//! What a failed `close` hands back.

use super::Error;
use std::fmt;

/// An object that could not be closed, and why. `?` turns it into the [`Error`] and drops the
/// object.
#[non_exhaustive]
pub struct CloseError<T> {
    /// The object, as it was.
    pub value: T,
    /// Why it is not closed.
    pub error: Error,
}

static_assertions::assert_not_impl_any!(CloseError<u8>: Clone);

impl<T> CloseError<T> {
    pub(crate) fn new(value: T, error: Error) -> Self {
        Self { value, error }
    }

    /// The same failure, of what is made of the object.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> CloseError<U> {
        CloseError::new(f(self.value), self.error)
    }
}

impl<T> From<CloseError<T>> for Error {
    fn from(failed: CloseError<T>) -> Self {
        failed.error
    }
}

impl<T> fmt::Debug for CloseError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CloseError").field(&self.error).finish()
    }
}

impl<T> fmt::Display for CloseError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for CloseError<T> {}
