//! Twin of `fail/owned/detached_buffer_used_without_its_context.rs`.

use scoped_cuda::{Buffer, Detached, Result};

fn f(weights: &Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    weights.with(|_ctx, weights| weights.to_vec())
}
