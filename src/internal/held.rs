//! What work in flight owns: kept in one place until the work is done, and then given back,
//! dropped, or leaked.

#![allow(unsafe_code)] // owns memory that the device uses

use crate::internal::wake::contain;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

/// A value that stays where it is while the device may use parts of it. It is not a `Box`: a `Box`
/// that is moved claims that nobody else uses what is in it.
///
/// It has no destructor: who does not take the value out leaks it.
pub(crate) struct Held<A>(NonNull<A>);

// SAFETY: it owns the value.
unsafe impl<A: Send> Send for Held<A> {}
// SAFETY: a shared one gives no access to the value.
unsafe impl<A> Sync for Held<A> {}

impl<A> UnwindSafe for Held<A> {}
impl<A> RefUnwindSafe for Held<A> {}

impl<A> Held<A> {
    pub(crate) fn new(value: Box<A>) -> Self {
        Self(NonNull::from(Box::leak(value)))
    }

    /// The value, to lend it to the device.
    ///
    /// # Safety
    /// Once, and `'a` ends before the value is taken out.
    pub(crate) unsafe fn lend<'a>(&mut self) -> &'a mut A {
        // SAFETY: valid, and nobody else's (the caller's promise).
        unsafe { self.0.as_mut() }
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn into_inner(self) -> Box<A> {
        // SAFETY: it came from a box, once.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }

    /// Forgets the type, and with it the lifetimes that the value carries.
    ///
    /// # Safety
    /// Any thread may drop the value, and it is dropped, if at all, while everything is there that
    /// it borrows.
    pub(crate) unsafe fn left(self) -> Left {
        /// # Safety
        /// `value` came from a box of an `A`, and is not used afterwards.
        unsafe fn drop_box<A>(value: NonNull<()>) {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(value.cast::<A>().as_ptr()) });
        }
        Left {
            value: self.0.cast(),
            drop_box: drop_box::<A>,
        }
    }
}

/// A [`Held`] value that nobody will ask for, of whatever type.
pub(crate) struct Left {
    value: NonNull<()>,
    drop_box: unsafe fn(NonNull<()>),
}

// SAFETY: any thread may drop it (`Held::left`).
unsafe impl Send for Left {}

impl UnwindSafe for Left {}
impl RefUnwindSafe for Left {}

impl Left {
    /// Drops the value. Its destructor may be a user's, whose panic is nobody's business here.
    ///
    /// # Safety
    /// The device does not use it any more, and what it borrows is there.
    pub(crate) unsafe fn release(self) {
        // SAFETY: once; the rest is the caller's promise.
        contain(|| unsafe { (self.drop_box)(self.value) });
    }
}
