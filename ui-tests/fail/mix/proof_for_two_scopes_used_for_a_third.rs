//! Claim:   C2
//! Misuse:  use memory of a scope with the proof for two others
//! In C:    nothing tells contexts apart but their handles; with two contexts on one device, freeing memory under the other context's
//!          work ended the process (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'b` and `'c` must be the same
//! Reads:   the proof says that `'a` and `'b` are one context, and the buffer is of `'c`
//! Fix:     ask for the pair at hand: `a.same_context(c)`

use scoped_cuda::{Buffer, Context, Result, SameContext};

fn f<'a, 'b, 'c>(
    (a, c): (Context<'a>, Context<'c>),
    a_is_b: SameContext<'a, 'b>,
    memory: &Buffer<'c, f32>,
) -> Result<Vec<f32>> {
    println!("{a:?} {c:?} {a_is_b:?}");
    a_is_b.slice_of(memory).to_vec() // <-
}

fn main() {}
