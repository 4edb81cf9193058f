//! Claim:   C12
//! Misuse:  let a kernel write memory that is only shared
//! In C:    two streams write it, or one reads what the other writes
//! Real:    none known
//! rustc:   `&Buffer<'gpu, f32>` is not an argument for a kernel parameter `InOut<f32>`
//! Reads:   safe or not, a launch writes memory that is lent to its stream
//! Fix:     `&mut x.lend(s)`, and `x` a `&'scope mut Buffer`

use scoped_cuda::{Buffer, InOut, LaunchConfig, Result, SafeKernel, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope SafeKernel<'gpu, (InOut<f32>, f32)>,
    x: &'scope mut Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    scale.launch(s, config, (&*x, 2.0)) // <-
}

fn main() {}
