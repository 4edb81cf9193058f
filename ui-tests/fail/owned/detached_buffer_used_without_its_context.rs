//! Claim:   C1
//! Misuse:  use a detached buffer where its context was not entered
//! In C:    the call goes to whatever context is current
//! Real:    none known
//! rustc:   no method named `to_vec` found for reference `&Detached
//! Reads:   outside of its context nothing can be done with a value but to keep, move and drop it
//! Fix:     `weights.with(|_, weights| weights.to_vec())`

use scoped_cuda::{Buffer, Detached, Result};

fn f(weights: &Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    weights.to_vec() // <-
}

fn main() {}
