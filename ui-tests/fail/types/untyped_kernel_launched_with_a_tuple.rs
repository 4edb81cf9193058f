//! Claim:   C9, C12
//! Misuse:  launch a kernel whose parameter list is not known with a tuple of arguments
//! In C:    the driver takes as many values as the kernel declares, from wherever the pointers point
//! Real:    none known
//! rustc:   `Untyped` is not a kernel's parameter list
//! Reads:   nothing was compared when the kernel was looked up
//! Fix:     look it up with `kernel::<(In<f32>, u32)>`, or launch what `kernel.arguments(config)` collects

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, scoped_cuda::kernel::Untyped>, // <-
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    // SAFETY: the kernel reads 64 elements.
    unsafe { s.launch(kernel, LaunchConfig::for_elements(64), (x, 64)) }
}

fn main() {}
