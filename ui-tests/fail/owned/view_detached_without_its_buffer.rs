//! Claim:   C1
//! Misuse:  detach a view, and leave the buffer behind
//! In C:    the address outlives the allocation
//! Real:    none known
//! rustc:   cannot be detached from its context
//! Reads:   a view borrows its buffer; only what carries no other lifetime than the context's can leave it
//! Fix:     detach the buffer, and make the view inside

use scoped_cuda::{Context, Result};

fn f(ctx: Context<'_>) -> Result<()> {
    let buffer = ctx.zeros::<f32>(4)?;
    let kept = ctx.detach(buffer.as_slice()); // <-
    println!("{kept:?}");
    Ok(())
}

fn main() {}
