//! Twin of `fail/papercuts/buffer_cloned.rs`.

use scoped_cuda::{Buffer, Result};

fn f<'gpu>(weights: Buffer<'gpu, f32>) -> Result<Buffer<'gpu, f32>> {
    let copy = weights.try_clone()?;
    Ok(copy)
}
