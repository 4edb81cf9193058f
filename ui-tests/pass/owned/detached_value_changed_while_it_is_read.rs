//! Twin of `fail/owned/detached_value_changed_while_it_is_read.rs`.

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, mut weights: Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    gpu.with(|outer| {
        let before = weights.get(outer)?.to_vec()?;
        gpu.with(|inner| weights.get_mut(inner)?.fill(1.0))?;
        Ok(before)
    })
}
