//! Twin of `fail/owned/family_with_a_borrow_of_its_own.rs`.

use scoped_cuda::{Context, Family};

struct Weights(&'static [f32]);

impl Family for Weights {
    type In<'ctx> = (&'static [f32], Context<'ctx>);
}
