//! Twin of `fail/owned/detached_value_used_after_it_was_taken_out.rs`.

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, mut weights: Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    gpu.with(|ctx| weights.get_mut(ctx)?.fill(1.0))?;
    gpu.with(|ctx| weights.get(ctx)?.to_vec())
}
