//! Claim:   C2
//! Misuse:  give a kernel memory of another device
//! In C:    without peer access the kernel faults, and CUDA_ERROR_ILLEGAL_ADDRESS is all that any device of the process answers
//!          from then on (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the stream and the kernel are of `'gpu0`, an argument is of `'gpu1`
//! Fix:     copy the data over first

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    kernel0: &'scope Kernel<'gpu0, (In<f32>,)>,
    buffer0: &'scope Buffer<'gpu0, f32>,
    buffer1: &'scope Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{buffer0:?} {buffer1:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu0.launch(kernel0, config, (buffer1,)) } // <-
}

fn main() {}
