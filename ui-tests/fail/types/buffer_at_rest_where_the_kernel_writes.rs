//! Claim:   C6, C12
//! Misuse:  pass a buffer at rest where the kernel writes
//! In C:    nothing knows that the memory has work pending
//! Real:    none known
//! rustc:   `&mut Buffer<'gpu, f32>` is not an argument for a kernel parameter `InOut<f32>`
//! Reads:   at rest a buffer may be read by many streams; to be written it has to be in the order of one
//! Fix:     `&mut x.lend(s)`

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    (stream, scale): (&Stream<'gpu>, &Kernel<'gpu, (InOut<f32>, f32)>),
    x: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    stream.scope(|s| {
        // SAFETY: `scale` multiplies the elements that x has.
        unsafe { s.launch(scale, config, (x, 2.0)) } // <-
    })
}

fn main() {}
