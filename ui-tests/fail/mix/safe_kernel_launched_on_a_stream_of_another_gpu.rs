//! Claim:   C2
//! Misuse:  launch a wrapped kernel on a stream of a context that it was not loaded in
//! In C:    CUDA_ERROR_INVALID_HANDLE, whatever context is current (measured on two H200, CUDA 13.0)
//! Real:    cupy/cupy#5795
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the kernel is of `'gpu0`, the stream of `'gpu1`
//! Fix:     load and wrap the kernel in each context

use scoped_cuda::{LaunchConfig, Result, SafeKernel, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    kernel0: &'scope SafeKernel<'gpu0, (u32,)>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    kernel0.launch(on_gpu1, LaunchConfig::for_elements(1), (7,)) // <-
}

fn main() {}
