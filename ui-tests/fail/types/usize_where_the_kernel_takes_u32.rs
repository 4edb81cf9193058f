//! Claim:   C12
//! Misuse:  pass `len()` where the kernel counts with an `unsigned int`
//! In C:    converted without a word, and wrong from 2^32 elements on
//! Real:    none known
//! rustc:   `usize` is not an argument for a kernel parameter `u32`
//! Reads:   nothing is converted on the way to a kernel: a parameter `u32` takes a `u32`
//! Fix:     `u32::try_from(n)`, which also says what happens with more; or a kernel that counts in 64 bits

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    sort: &'scope Kernel<'gpu, (InOut<f32>, u32)>,
    x: &mut OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    let n = x.len();
    // SAFETY: `sort` stays within the first n elements of x, and x has n.
    unsafe { s.launch(sort, config, (x, n)) } // <-
}

fn main() {}
