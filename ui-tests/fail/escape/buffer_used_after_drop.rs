//! Claim:   C6
//! Misuse:  use a buffer after it was freed
//! In C:    a copy from freed memory is refused only as long as nobody has been given the address again (measured on an H200,
//!          CUDA 13.0); after that it copies somebody else's data
//! Real:    chelsea0x3b/cudarc#160
//! rustc:   E0382
//! Reads:   a buffer owns its memory and is not `Copy`; dropping it ends it
//! Fix:     use it before; or leave the drop to the end of the block

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<Vec<f32>> {
    let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
    drop(buffer);
    buffer.to_vec() // <-
}

fn main() {}
