//! Claim:   C2
//! Misuse:  keep one cache of modules for two devices, and take a kernel for the wrong one
//! In C:    a function belongs to the context that its module was loaded in: CUDA_ERROR_INVALID_HANDLE at the launch (measured on two H200, CUDA 13.0)
//! Real:    cupy/cupy#5795 (B38)
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   what is looked up in a module of `'gpu0` is of `'gpu0`, and was promised for `'gpu1`
//! Fix:     load the image in each context: PTX with `load_ptx`, what was linked with `load_linked`

use scoped_cuda::{Context, Kernel, Module, Result};

fn f<'gpu0, 'gpu1>(cache: &Module<'gpu0>, gpu1: Context<'gpu1>) -> Result<Kernel<'gpu1, (u32,)>> {
    println!("{gpu1:?}");
    cache.kernel("nothing") // <-
}

fn main() {}
