//! Claim:   C12
//! Misuse:  pass a double where the kernel takes a float
//! In C:    the driver reads 4 of the 8 bytes: a kernel that wants 2.0f sees 0.0
//! Real:    bheisler/RustaCUDA#21
//! rustc:   `f64` is not an argument for a kernel parameter `f32`
//! Reads:   the parameter list of the `Kernel` says `f32`, and values are passed as exactly that type
//! Fix:     `2.0` without a suffix takes the parameter's type; a variable needs `as f32`

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope Kernel<'gpu, (InOut<f32>, f32)>,
    x: &mut OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: `scale` multiplies the elements that x has.
    unsafe { s.launch(scale, config, (x, 2.0f64)) } // <-
}

fn main() {}
