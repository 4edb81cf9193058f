//! Twin of `fail/owned/buffer_returned_from_with.rs`.

use scoped_cuda::{OwnedContext, Result};

fn f(gpu: &OwnedContext) -> Result<()> {
    let kept = gpu.with(|ctx| {
        let buffer = ctx.upload(&[1.0f32, 2.0])?;
        buffer.to_vec()
    })?;
    println!("{kept:?}");
    Ok(())
}
