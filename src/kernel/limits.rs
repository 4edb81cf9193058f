//! What the launches of a function are compared with.

use crate::error::Result;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a launch is compared with.
pub(super) struct Limits {
    threads_per_block: u32,
    /// Dynamic shared memory; it can be raised.
    shared_bytes: AtomicU32,
    /// Serialises changes of the limit.
    turn: Mutex<()>,
}

impl Limits {
    pub(super) fn new(threads_per_block: u32, shared_bytes: u32) -> Self {
        Self {
            threads_per_block,
            shared_bytes: AtomicU32::new(shared_bytes),
            turn: Mutex::default(),
        }
    }

    #[inline]
    pub(super) fn threads_per_block(&self) -> u32 {
        self.threads_per_block
    }

    #[inline]
    pub(super) fn shared_bytes(&self) -> u32 {
        self.shared_bytes.load(Ordering::Relaxed)
    }

    /// `tell` tells the driver. One thread at a time does, so that what is kept here is what the
    /// driver was told last.
    pub(super) fn set_shared_bytes(
        &self,
        bytes: u32,
        tell: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        tell()?;
        self.shared_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use std::thread;

    /// What is kept is what the driver was told last, whoever else told it something.
    #[test]
    fn limits_are_those_that_the_driver_was_told_last() {
        let (limits, told) = (Limits::new(1024, 0), AtomicU32::new(0));
        let tell = |bytes: u32| {
            limits.set_shared_bytes(bytes, || {
                told.store(bytes, Ordering::Relaxed);
                thread::yield_now();
                Ok(())
            })
        };
        for round in 0..500 {
            thread::scope(|threads| {
                for bytes in [2 * round, 2 * round + 1] {
                    threads.spawn(move || tell(bytes));
                }
            });
            assert_eq!(limits.shared_bytes(), told.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn limit_that_the_driver_refuses_is_not_kept() {
        let limits = Limits::new(1024, 7);
        let refused = limits.set_shared_bytes(8, || Err(Error::InsideHostFunction));
        assert_eq!(refused, Err(Error::InsideHostFunction));
        assert_eq!(limits.shared_bytes(), 7);
    }
}
