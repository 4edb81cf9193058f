//! Claim:   C11
//! Misuse:  let a graph copy from ordinary host memory
//! In C:    the driver reads the slice at each launch, long after it is gone
//! Real:    huggingface/candle#3352
//! rustc:   E0308
//! Reads:   a graph copies from and to page-locked memory that it owns
//! Fix:     move a `PinnedBuffer` into the graph

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let memory = (gpu.zeros::<f32>(2)?, gpu.pinned_from(&[1.0f32, 2.0])?);
    gpu.graph(memory, |g, (mut x, _pinned)| g.write(&[1.0, 2.0], &mut x))?; // <-
    Ok(())
}

fn main() {}
