//! Twin of `fail/owned/future_of_an_entry_awaited_outside.rs`.

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

async fn f(gpu: &OwnedContext, x: &Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    let read = gpu.with(|ctx| {
        let x = x.get(ctx)?;
        let x = x.to_vec();
        Ok(async move { x })
    })?;
    read.await
}
