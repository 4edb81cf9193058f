//! Claim:   C12
//! Misuse:  pass a buffer of floats to a kernel that reads integers
//! In C:    a device pointer has no element type: the kernel reads the bits of the floats
//! Real:    none known
//! rustc:   `&Buffer<'gpu, f32>` is not memory of `u32` that this stream may read
//! Reads:   the parameter is `In<u32>`, so memory of `u32` is wanted; of the last lines "expected `f32`, found `u32`" has it the other
//!          way round, since it looks from the buffer
//! Fix:     the right buffer, or the right parameter type

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    histogram: &'scope Kernel<'gpu, (In<u32>,)>,
    (keys, weights): (&'scope Buffer<'gpu, u32>, &'scope Buffer<'gpu, f32>),
) -> Result<()> {
    println!("{keys:?} {weights:?}");
    let config = LaunchConfig::for_elements(keys.len());
    // SAFETY: the kernel reads the elements that its argument has.
    unsafe { s.launch(histogram, config, (weights,)) } // <-
}

fn main() {}
