//! Claim:   C12
//! Misuse:  describe a pointer parameter as a Rust reference
//! In C:    host and device pointers have the same type
//! Real:    NVlabs/cuda-oxide#171
//! rustc:   `&[f32]` cannot be a kernel parameter
//! Reads:   as it says: a host reference is neither device memory nor plain data
//! Fix:     `In<f32>` for `const float *`

use scoped_cuda::{Ptx, Context, In, Result};

fn f(gpu: Context<'_>, ptx: Ptx<'_>) -> Result<()> {
    let kernel = gpu.load_ptx(ptx)?.kernel::<(&[f32], In<f32>)>("dot")?; // <-
    println!("{kernel:?}");
    Ok(())
}

fn main() {}
