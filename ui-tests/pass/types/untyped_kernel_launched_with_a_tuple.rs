//! Twin of `fail/types/untyped_kernel_launched_with_a_tuple.rs`.

use scoped_cuda::kernel::Untyped;
use scoped_cuda::{Buffer, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, Untyped>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    let mut arguments = kernel.arguments(config);
    arguments.push::<scoped_cuda::In<f32>>(x)?;
    arguments.push::<u32>(1)?;
    // SAFETY: the kernel reads one element.
    unsafe { arguments.launch(s) }
}
