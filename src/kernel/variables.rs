//! The variables of a module that a safe kernel reads.

use super::global::Global;
use crate::memory::sealed::Sealed;
use crate::memory::{Slice, SliceMut};

/// Handles of variables of modules: a [`Global`], a reference to one, or a tuple of such. Of no
/// variables it is `()`.
///
/// Sealed: who has them through a shared reference cannot write them, and who has them through a
/// mutable one cannot exchange them for others (claim C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the handle of variables",
    note = "pass a `Global`, a reference to one, or a tuple of these"
)]
pub trait Variables<'ctx>: Sealed {
    /// Views of the variables: to write of those that are owned, to read of those that are
    /// borrowed.
    type Views<'a>
    where
        Self: 'a;

    /// The views.
    fn views(&mut self) -> Self::Views<'_>;
}

impl<T> Sealed for Global<'_, T> {}

impl<'ctx, T> Variables<'ctx> for Global<'ctx, T> {
    type Views<'a>
        = SliceMut<'a, 'ctx, T>
    where
        Self: 'a;

    fn views(&mut self) -> SliceMut<'_, 'ctx, T> {
        self.as_mut_slice()
    }
}

impl<T> Sealed for &Global<'_, T> {}

impl<'ctx, T> Variables<'ctx> for &Global<'ctx, T> {
    type Views<'a>
        = Slice<'a, 'ctx, T>
    where
        Self: 'a;

    fn views(&mut self) -> Slice<'_, 'ctx, T> {
        self.as_slice()
    }
}

macro_rules! tuples {
    ($($($V:ident)*;)*) => {$(
        #[allow(non_snake_case, clippy::unused_unit)] // the variables are named after the types; there may be none
        impl<'ctx, $($V: Variables<'ctx>),*> Variables<'ctx> for ($($V,)*) {
            type Views<'a> = ($($V::Views<'a>,)*) where Self: 'a;

            fn views(&mut self) -> Self::Views<'_> {
                let ($($V,)*) = self;
                ($($V.views(),)*)
            }
        }
    )*};
}

// All tuples are sealed already, beside the parameter lists.
tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
