//! Twin of `fail/types/shared_buffer_where_a_safe_kernel_writes.rs`.

use scoped_cuda::{Buffer, InOut, LaunchConfig, Result, SafeKernel, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope SafeKernel<'gpu, (InOut<f32>, f32)>,
    x: &'scope mut Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    scale.launch(s, config, (&mut x.lend(s), 2.0))
}
