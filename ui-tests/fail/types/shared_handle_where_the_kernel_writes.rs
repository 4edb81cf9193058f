//! Claim:   C6, C12
//! Misuse:  pass memory to be read where the kernel writes
//! In C:    a pointer is a pointer
//! Real:    none known
//! rustc:   `&OnStream<'s, Buffer<'gpu, f32>>` is not an argument for a kernel parameter `InOut<f32>`
//! Reads:   a parameter that is written wants the handle mutably
//! Fix:     `&mut x`

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope Kernel<'gpu, (InOut<f32>, f32)>,
    mut x: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: `scale` multiplies the elements that x has.
    unsafe { s.launch(scale, config, (&x, 2.0)) }?; // <-
    s.fill(&mut x, 0.0)
}

fn main() {}
