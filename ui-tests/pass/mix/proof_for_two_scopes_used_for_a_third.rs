//! Twin of `fail/mix/proof_for_two_scopes_used_for_a_third.rs`.

use scoped_cuda::{Buffer, Context, Result, SameContext};

fn f<'a, 'b, 'c>(
    (a, c): (Context<'a>, Context<'c>),
    a_is_b: SameContext<'a, 'b>,
    memory: &Buffer<'c, f32>,
) -> Result<Vec<f32>> {
    println!("{a:?} {c:?} {a_is_b:?}");
    a.same_context(c)?.slice_of(memory).to_vec()
}
