//! Claim:   C12
//! Misuse:  read memory that nothing has written
//! In C:    what an earlier allocation, or another process, has left there
//! Real:    NVIDIA/cudf#8873
//! rustc:   `MaybeUninit<f32>: Pod`
//! Reads:   `uninit` gives a `Buffer<MaybeUninit<f32>>`, and reading wants plain data, which something uninitialised is not
//! Fix:     `zeros`; or `assume_init` when a kernel has written every element

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<Vec<f32>> {
    gpu.uninit::<f32>(4)?.to_vec() // <-
}

fn main() {}
