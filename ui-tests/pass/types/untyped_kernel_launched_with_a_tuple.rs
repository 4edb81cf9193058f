//! Twin of `fail/types/untyped_kernel_launched_with_a_tuple.rs`.

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (scoped_cuda::In<f32>, u32)>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    // SAFETY: the kernel reads 64 elements.
    unsafe { s.launch(kernel, LaunchConfig::for_elements(64), (x, 64)) }
}
