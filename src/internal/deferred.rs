//! What was dropped in a host function and may not be there (claim C11): destructors of a context's
//! objects call the driver, which a host function may not do.

use crate::internal::inside;
use crate::internal::wake::contain;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Values of a driver's contexts that wait until a thread that may call the driver comes by: at the
/// end of a scope or of owned work, and whenever a context is entered. If none does, they stay
/// until the process ends.
pub(crate) struct Deferred {
    values: Mutex<Vec<Box<dyn Send>>>,
    /// Whether there are any.
    is_waiting: AtomicBool,
}

impl Deferred {
    pub(crate) const fn new() -> Self {
        Self {
            values: Mutex::new(Vec::new()),
            is_waiting: AtomicBool::new(false),
        }
    }

    /// Keeps a value until [`drop_now`](Self::drop_now).
    #[cold]
    pub(crate) fn drop_later(&self, value: Box<dyn Send>) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.push(value);
        self.is_waiting.store(true, Ordering::Release);
    }

    /// Drops what waits, unless this thread is in a host function itself.
    #[inline]
    pub(crate) fn drop_now(&self) {
        if self.is_waiting.load(Ordering::Acquire) && inside::not_inside().is_ok() {
            self.drop_all();
        }
    }

    #[cold]
    fn drop_all(&self) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_waiting.store(false, Ordering::Release);
        let waiting = mem::take(&mut *values);
        drop(values);
        // Destructors of the user are among them, and this is not their frame (C4).
        for value in waiting {
            contain(|| drop(value));
        }
    }
}
