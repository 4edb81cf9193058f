//! Claim:   C2, C8
//! Misuse:  give a kernel of a third device what was reached for another
//! In C:    without peer access the kernel faults, and CUDA_ERROR_ILLEGAL_ADDRESS is all that any device of the process answers
//!          from then on (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu1` and `'gpu2` must be the same
//! Reads:   a view is named after the device whose kernels may touch it, here `'gpu1`; stream and kernel are of `'gpu2`
//! Fix:     reach it with a transfer to that device

use scoped_cuda::{In, Kernel, LaunchConfig, PeerSlice, Result, ScopedStream};

fn f<'a, 'scope, 'gpu1, 'gpu2>(
    on_gpu2: ScopedStream<'a, 'scope, 'gpu2>,
    read: &'scope Kernel<'gpu2, (In<f32>,)>,
    for_gpu1: &'scope PeerSlice<'scope, 'gpu1, f32>,
    for_gpu2: &'scope PeerSlice<'scope, 'gpu2, f32>,
) -> Result<()> {
    println!("{for_gpu1:?} {for_gpu2:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu2.launch(read, config, (*for_gpu1,)) } // <-
}

fn main() {}
