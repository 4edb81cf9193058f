//! Claim:   C6
//! Misuse:  use a detached buffer after it was taken out of its wrapping
//! In C:    two owners of one address
//! Real:    none known
//! rustc:   borrow of moved value: `weights`
//! Reads:   `into_inner` gives the buffer to the entry, where it is dropped at the end
//! Fix:     borrow it with `get` or `get_mut`

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, weights: Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    gpu.with(|ctx| weights.into_inner(ctx)?.fill(1.0))?;
    gpu.with(|ctx| weights.get(ctx)?.to_vec()) // <-
}

fn main() {}
