//! Twin of `fail/escape/buffer_used_after_drop.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<Vec<f32>> {
    let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
    let host = buffer.to_vec();
    drop(buffer);
    host
}
