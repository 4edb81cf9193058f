//! Claim:   C12
//! Misuse:  pass null where the kernel follows the pointer
//! In C:    the kernel reads address 0: CUDA_ERROR_ILLEGAL_ADDRESS, and the process has lost CUDA
//! Real:    none known
//! rustc:   `scoped_cuda::Null` is not memory of `f32` that this stream may read
//! Reads:   `In<f32>` is a pointer that is never null: it takes memory
//! Fix:     if the kernel looks before it follows the pointer, say `Optional<In<f32>>`

use scoped_cuda::{In, Kernel, LaunchConfig, Null, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (In<f32>, u32)>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel looks whether there is memory.
    unsafe { s.launch(kernel, config, (Null, 1)) } // <-
}

fn main() {}
