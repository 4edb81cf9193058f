//! Twin of `fail/owned/view_detached_without_its_buffer.rs`.

use scoped_cuda::{Context, Result};

fn f(ctx: Context<'_>) -> Result<()> {
    let buffer = ctx.zeros::<f32>(4)?;
    let kept = ctx.detach(buffer);
    println!("{kept:?}");
    Ok(())
}
