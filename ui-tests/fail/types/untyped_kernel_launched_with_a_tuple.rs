//! Claim:   C9, C12
//! Misuse:  launch a kernel whose parameter list is not known with a tuple of arguments
//! In C:    the driver takes as many values as the kernel declares, from wherever the pointers point
//! Real:    none known
//! rustc:   `Untyped` is not a kernel's parameter list
//! Reads:   nothing was compared when the kernel was looked up
//! Fix:     collect the arguments with `kernel.arguments(config)`; or look it up with `kernel::<(In<f32>, u32)>`

use scoped_cuda::kernel::Untyped;
use scoped_cuda::{Buffer, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, Untyped>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: the kernel reads one element.
    unsafe { s.launch(kernel, config, (x, 1)) } // <-
}

fn main() {}
