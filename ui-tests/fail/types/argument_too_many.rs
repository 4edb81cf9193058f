//! Claim:   C12
//! Misuse:  pass more arguments than the kernel has parameters
//! In C:    the driver ignores the rest, and what the author thought of it is lost
//! Real:    none known
//! rustc:   these arguments do not fit the kernel's parameters `(InOut<f32>, f32)`
//! Reads:   the tuple is too long; the list of what implements `Args` is of no interest
//! Fix:     one argument for each parameter

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope Kernel<'gpu, (InOut<f32>, f32)>,
    x: &mut OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: `scale` multiplies the elements that x has.
    unsafe { s.launch(scale, config, (x, 2.0, 4u32)) } // <-
}

fn main() {}
