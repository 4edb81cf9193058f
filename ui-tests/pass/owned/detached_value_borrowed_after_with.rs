//! Twin of `fail/owned/detached_value_borrowed_after_with.rs`.

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, weights: &Detached<Buffer<'static, f32>>) -> Result<()> {
    let mut kept = None;
    gpu.with(|ctx| {
        kept = Some(weights.get(ctx)?.to_vec()?);
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
