//! Twin of `fail/mix/memory_of_another_scope_used_without_the_proof.rs`.

use scoped_cuda::{Buffer, Context, Result};

fn f<'a, 'b>(
    (a, b): (Context<'a>, Context<'b>),
    mut here: Buffer<'a, f32>,
    memory: &Buffer<'b, f32>,
) -> Result<()> {
    let same = a.same_context(b)?;
    println!("{same:?}");
    here.copy_from(&same.slice_of(memory))
}
