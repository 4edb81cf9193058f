//! Claim:   C1
//! Misuse:  await, outside of the entry, a future that has captured its context
//! In C:    a callback uses a context that was popped, and perhaps released
//! Real:    none known
//! rustc:   returning this value requires that `'1` must outlive `'2`
//! Reads:   the future holds `ctx`, `'1`, and would be polled after the closure has returned
//! Fix:     detach the work, and await that

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

async fn f(gpu: &OwnedContext, x: &Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    let read = gpu.with(|ctx| {
        let x = x.get(ctx)?;
        Ok(async move { x.to_vec() }) // <-
    })?;
    read.await
}

fn main() {}
