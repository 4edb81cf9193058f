//! Twin of `fail/types/uninitialised_memory_read.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<Vec<f32>> {
    gpu.zeros::<f32>(4)?.to_vec()
}
