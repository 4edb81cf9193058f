//! Claim:   C2, C8
//! Misuse:  let a kernel write memory of another device that no transfer has opened
//! In C:    without peer access the kernel faults, and CUDA_ERROR_ILLEGAL_ADDRESS is all that any device of the process answers
//!          from then on (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   a view has the name of its own device; only `reach` and `reach_mut` of a direct `Transfer` give one for another device's kernels
//! Fix:     `Transfer::direct(gpu0, gpu1)?.peer_slice_mut(&mut far)?`, lent with `lend_peer`

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Out, PeerSliceMut, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu1: ScopedStream<'a, 'scope, 'gpu1>,
    write: &'scope Kernel<'gpu1, (Out<f32>,)>,
    far: &'scope mut Buffer<'gpu0, f32>,
    reached: PeerSliceMut<'scope, 'gpu1, f32>,
) -> Result<()> {
    println!("{far:?} {reached:?}");
    let config = LaunchConfig::for_elements(4);
    let mut there = far.lend(on_gpu1); // <-
    // SAFETY: the kernel writes 4 elements.
    unsafe { on_gpu1.launch(write, config, (&mut there,)) }
}

fn main() {}
