//! Whether a thread is inside a host function, where the driver permits no call.

use crate::error::{Error, Result};
use std::cell::Cell;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// # Errors
/// [`Error::InsideHostFunction`] on a thread that is in a host function.
pub(crate) fn not_inside() -> Result<()> {
    if INSIDE.get() {
        Err(Error::InsideHostFunction)
    } else {
        Ok(())
    }
}

/// Marks this thread as inside a host function, and says whether it was before.
pub(crate) fn enter() -> bool {
    INSIDE.replace(true)
}

/// Undoes [`enter`], which said `was_inside`.
pub(crate) fn leave(was_inside: bool) {
    INSIDE.set(was_inside);
}
