//! Claim:   C12
//! Misuse:  pass the length of memory whose parameter passes it already
//! In C:    one argument too many is never read
//! Real:    none known
//! rustc:   these arguments do not fit the kernel's parameters `(WithLen<In<f32>, u32>,)`
//! Reads:   `WithLen` stands for two parameters of the kernel and takes one argument
//! Fix:     leave the length out

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream, WithLen};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (WithLen<In<f32>, u32>,)>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel touches what it is given.
    unsafe { s.launch(kernel, config, (x, 1)) } // <-
}

fn main() {}
