//! Twin of `fail/types/shared_handle_where_the_kernel_writes.rs`.

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    scale: &'scope Kernel<'gpu, (InOut<f32>, f32)>,
    mut x: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    // SAFETY: `scale` multiplies the elements that x has.
    unsafe { s.launch(scale, config, (&mut x, 2.0)) }?;
    s.fill(&mut x, 0.0)
}
