//! What work in flight owns: kept in one place until the work is done, and then given back,
//! dropped, or leaked.

#![allow(unsafe_code)] // owns memory that the device uses

use crate::internal::wake::contain;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::{self, ManuallyDrop};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

/// Memory of the heap for one value after another, so that work that is submitted again and again
/// allocates once.
pub(crate) struct Place {
    /// Dangling when the layout has no bytes.
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: owned memory.
unsafe impl Send for Place {}
// SAFETY: a shared one gives no access to it.
unsafe impl Sync for Place {}

impl Place {
    fn new(layout: Layout) -> Self {
        let memory = match layout.size() {
            0 => Some(NonNull::dangling()),
            // SAFETY: the layout has bytes.
            _ => NonNull::new(unsafe { alloc(layout) }),
        };
        let Some(memory) = memory else {
            handle_alloc_error(layout)
        };
        Self { memory, layout }
    }

    fn has_room_for(&self, layout: Layout) -> bool {
        let (own, other) = (self.layout, layout);
        other.size() > 0 && own.size() >= other.size() && own.align() >= other.align()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout, once; nothing is in it.
            unsafe { dealloc(self.memory.as_ptr(), self.layout) };
        }
    }
}

/// A value that stays where it is while the device may use parts of it. It is not a `Box`: a `Box`
/// that is moved claims that nobody else uses what is in it.
///
/// It has no destructor for the value: who does not take it out leaks it.
pub(crate) struct Held<A> {
    value: NonNull<A>,
    layout: Layout,
}

// SAFETY: it owns the value.
unsafe impl<A: Send> Send for Held<A> {}
// SAFETY: a shared one gives no access to the value.
unsafe impl<A> Sync for Held<A> {}

impl<A> UnwindSafe for Held<A> {}
impl<A> RefUnwindSafe for Held<A> {}

impl<A> Held<A> {
    /// Puts the value into `place` if that has room for it, else into a new one.
    pub(crate) fn new(value: A, place: Option<Place>) -> Self {
        let layout = Layout::new::<A>();
        let place = place.filter(|place| place.has_room_for(layout));
        let place = place.unwrap_or_else(|| Place::new(layout));
        let held = match layout.size() {
            // A dangling pointer that is aligned.
            0 => NonNull::dangling(),
            _ => place.memory.cast::<A>(),
        };
        let layout = place.layout;
        mem::forget(place);
        // SAFETY: room for one, aligned, and nobody else's.
        unsafe { held.write(value) };
        Self {
            value: held,
            layout,
        }
    }

    /// The value, to lend it to the device.
    ///
    /// # Safety
    /// Once, and `'a` ends before the value is taken out.
    pub(crate) unsafe fn lend<'a>(&mut self) -> &'a mut A {
        // SAFETY: valid, and nobody else's (the caller's promise).
        unsafe { self.value.as_mut() }
    }

    /// Takes the value out, and leaves its place.
    ///
    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn into_inner(self) -> (A, Place) {
        // SAFETY: it is there, and is not used afterwards.
        let value = unsafe { self.value.read() };
        let place = Place {
            memory: self.value.cast(),
            layout: self.layout,
        };
        (value, place)
    }

    /// Forgets the type, and with it the lifetimes that the value carries.
    ///
    /// # Safety
    /// Any thread may drop the value, and it is dropped, if at all, while everything is there that
    /// it borrows.
    pub(crate) unsafe fn left(self) -> Left {
        /// # Safety
        /// `value` is an `A`, and is not used afterwards.
        unsafe fn drop_in_place<A>(value: NonNull<u8>) {
            // SAFETY: the caller's promise.
            unsafe { value.cast::<A>().drop_in_place() };
        }
        Left {
            place: ManuallyDrop::new(Place {
                memory: self.value.cast(),
                layout: self.layout,
            }),
            drop_in_place: drop_in_place::<A>,
        }
    }
}

/// A [`Held`] value that nobody will ask for, of whatever type. It has no destructor either.
pub(crate) struct Left {
    place: ManuallyDrop<Place>,
    drop_in_place: unsafe fn(NonNull<u8>),
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
        contain(|| unsafe { (self.drop_in_place)(self.place.memory) });
        drop(ManuallyDrop::into_inner(self.place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_place_is_used_again_by_what_fits() {
        let held = Held::new([7_u64; 4], None);
        let first = held.value.cast::<u8>();
        // SAFETY: no device uses it.
        let (value, place) = unsafe { held.into_inner() };
        assert_eq!(value, [7; 4]);
        let held = Held::new(9_u16, Some(place));
        assert_eq!(held.value.cast::<u8>(), first, "smaller");
        // SAFETY: as above.
        let (value, place) = unsafe { held.into_inner() };
        assert_eq!((value, place.layout), (9, Layout::new::<[u64; 4]>()));
        let held = Held::new([1_u64; 5], Some(place));
        // SAFETY: as above.
        let (value, place) = unsafe { held.into_inner() };
        assert_eq!((value, place.layout), ([1; 5], Layout::new::<[u64; 5]>()));
        let held = Held::new((), Some(place));
        // SAFETY: as above.
        let (_, place) = unsafe { held.into_inner() };
        assert_eq!(place.layout.size(), 0, "what has no bytes has no place");
    }

    #[test]
    fn a_place_is_aligned_for_what_it_holds() {
        #[repr(align(128))]
        struct Aligned(u8);
        let held = Held::new(1_u8, None);
        // SAFETY: no device uses it.
        let (_, place) = unsafe { held.into_inner() };
        let mut held = Held::new(Aligned(5), Some(place));
        // SAFETY: once, and it ends before the value is taken out.
        let lent = unsafe { held.lend() };
        assert_eq!((lent.0, (&raw const *lent).addr() % 128), (5, 0));
        // SAFETY: as above.
        drop(unsafe { held.into_inner() });
    }

    #[test]
    fn what_is_left_is_dropped_when_it_is_released_and_not_before() {
        let counted = Arc::new(());
        // SAFETY: any thread may drop it, and it borrows nothing.
        let left = || unsafe { Held::new(Arc::clone(&counted), None).left() };
        let _ = left();
        assert_eq!(Arc::strong_count(&counted), 2, "leaked");
        // SAFETY: no device uses it.
        unsafe { left().release() };
        assert_eq!(Arc::strong_count(&counted), 2);
    }
}
