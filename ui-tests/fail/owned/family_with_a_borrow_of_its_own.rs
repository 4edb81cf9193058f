//! Claim:   C1
//! Misuse:  declare a family whose values borrow something beside the context
//! In C:    a struct with a pointer whose owner nobody knows
//! Real:    none known
//! rustc:   does not fulfill the required lifetime
//! Reads:   a value of a family may live as long as its context, which ends at no time that the borrow knows of
//! Fix:     own the data, or borrow it for `'static`

use scoped_cuda::{Context, Family};

struct Weights<'a>(&'a [f32]);

impl<'a> Family for Weights<'a> {
    type In<'ctx> = (&'a [f32], Context<'ctx>); // <-
}

fn main() {}
