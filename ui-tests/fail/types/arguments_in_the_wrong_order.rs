//! Claim:   C12
//! Misuse:  exchange two arguments
//! In C:    a float's bits, and what lies next to them, are taken for an address
//! Real:    none known
//! rustc:   `f32` is not an argument for a kernel parameter `InOut<f32>`
//! Reads:   one error for each argument in the wrong place
//! Fix:     the order of the parameter list

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope Kernel<'gpu, (InOut<f32>, f32)>,
    x: &mut OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: `scale` multiplies the elements that x has.
    unsafe { s.launch(scale, config, (2.0f32, x)) } // <-
}

fn main() {}
