//! What is handed back of work that did not begin, or failed.

use super::Submitted;
use crate::error::Error;
use std::fmt;

/// Work that was not enqueued as a whole: the error, and what was begun. `?` turns it into its
/// [`Error`], in functions that return one, and leaves what was begun to the context.
#[non_exhaustive]
pub struct NotSubmitted<'ctx, A> {
    /// Why.
    pub error: Error,
    /// What was enqueued before the error, if anything was. It gives back what the work owns.
    pub begun: Submitted<'ctx, A>,
}

static_assertions::assert_not_impl_any!(NotSubmitted<'static, Vec<u8>>: Clone);

/// Work that failed: the error, and what the work owned. `?` turns it into its [`Error`], in
/// functions that return one, and drops what the work owned.
#[non_exhaustive]
pub struct FailedWork<A> {
    /// Why.
    pub error: Error,
    /// What the work owned. `None` when it may be running still, as far as the driver says: then it
    /// is kept until something proves the opposite, or leaked.
    pub owned: Option<A>,
}

static_assertions::assert_not_impl_any!(FailedWork<Vec<u8>>: Clone);

impl<'ctx, A> NotSubmitted<'ctx, A> {
    #[cold]
    pub(super) fn new(error: Error, begun: Submitted<'ctx, A>) -> Box<Self> {
        Box::new(Self { error, begun })
    }
}

impl<A> From<Box<NotSubmitted<'_, A>>> for Error {
    fn from(refused: Box<NotSubmitted<'_, A>>) -> Self {
        refused.error
    }
}

impl<A> fmt::Debug for NotSubmitted<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotSubmitted").field(&self.error).finish()
    }
}

impl<A> fmt::Display for NotSubmitted<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the work was not enqueued as a whole: {}", self.error)
    }
}

impl<A> std::error::Error for NotSubmitted<'_, A> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<A> From<FailedWork<A>> for Error {
    fn from(failed: FailedWork<A>) -> Self {
        failed.error
    }
}

impl<A> fmt::Debug for FailedWork<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FailedWork").field(&self.error).finish()
    }
}

impl<A> fmt::Display for FailedWork<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<A> std::error::Error for FailedWork<A> {}
