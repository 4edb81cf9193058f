//! Twin of `fail/types/length_passed_beside_memory_that_is_counted.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream, WithLen};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (WithLen<In<f32>, u32>,)>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel touches what it is given.
    unsafe { s.launch(kernel, config, (x,)) }
}
