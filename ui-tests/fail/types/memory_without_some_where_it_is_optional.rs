//! Claim:   C12
//! Misuse:  pass memory bare where the kernel may be given none
//! In C:    works: a pointer is a pointer
//! Real:    none known
//! rustc:   `&Buffer<'gpu, f32>` is not an argument for a kernel parameter `Optional<In<f32>>`
//! Reads:   an optional pointer takes an `Option` of its argument, or `Null`
//! Fix:     `Some(x)`

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Optional, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (Optional<In<f32>>, u32)>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel touches what it is given.
    unsafe { s.launch(kernel, config, (x, 1)) } // <-
}

fn main() {}
