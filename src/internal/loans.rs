//! Whether memory of the host is lent to a stream (claim C5).
//!
//! What a wait has to prove depends on it. The host's memory cannot be taken back from a device
//! that may still write it. Memory of the device alone reaches nobody once the driver is never
//! called again, which is so after a fault (claim C10).

use std::sync::atomic::{AtomicUsize, Ordering};

/// The loans of host memory to one stream, by the scopes that use it at the moment.
pub(crate) struct HostLoans {
    /// Twice the number of scopes, and 1 while a loan of one of them may go on.
    state: AtomicUsize,
}

/// A scope that uses a stream. When the last one ends, so have the loans.
pub(crate) struct LoanScope<'a>(&'a HostLoans);

/// Pieces of host memory that a device may reach though no scope has enqueued a copy of them: they
/// are alive, and managed, or page-locked with a device view, or in a graph. What is lent outlives
/// its scope, so it is counted when the scope waits.
static DEVICE_VISIBLE: AtomicUsize = AtomicUsize::new(0);

impl HostLoans {
    pub(crate) const fn new() -> Self {
        Self {
            state: AtomicUsize::new(0),
        }
    }

    pub(crate) fn open(&self) -> LoanScope<'_> {
        self.state.fetch_add(2, Ordering::SeqCst);
        LoanScope(self)
    }

    /// To be called before a copy from or to host memory is enqueued.
    #[inline]
    pub(crate) fn lend(&self) {
        if self.state.load(Ordering::Relaxed) & 1 == 0 {
            self.state.fetch_or(1, Ordering::SeqCst);
        }
    }

    /// Whether host memory may be lent to the stream.
    pub(crate) fn is_lent(&self) -> bool {
        self.state.load(Ordering::SeqCst) & 1 == 1 || is_visible()
    }
}

impl LoanScope<'_> {
    pub(crate) fn is_lent(&self) -> bool {
        self.0.is_lent()
    }
}

impl Drop for LoanScope<'_> {
    fn drop(&mut self) {
        // The last scope takes the mark of a loan with it.
        let _ = self
            .0
            .state
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| {
                Some(if state < 4 { 0 } else { state - 2 })
            });
    }
}

/// While this lives, a piece of host memory counts as one that a device may reach. Forgotten, it
/// counts for ever, which is the safe side.
pub(crate) struct DeviceVisible(());

impl DeviceVisible {
    pub(crate) fn new() -> Self {
        DEVICE_VISIBLE.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for DeviceVisible {
    fn drop(&mut self) {
        DEVICE_VISIBLE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether there is host memory in the process that a device may reach without a copy of a scope's.
pub(crate) fn is_visible() -> bool {
    DEVICE_VISIBLE.load(Ordering::SeqCst) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loan_ends_with_the_last_scope() {
        let loans = HostLoans::new();
        let marked = |loans: &HostLoans| loans.state.load(Ordering::SeqCst) & 1 == 1;
        let first = loans.open();
        assert!(!marked(&loans));
        loans.lend();
        let second = loans.open();
        drop(first);
        assert!(marked(&loans), "the second scope may have lent it");
        drop(second);
        assert!(!marked(&loans));
        let third = loans.open();
        assert!(!marked(&loans));
        drop(third);
    }
}
