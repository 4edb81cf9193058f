//! Twin of `fail/types/buffer_at_rest_where_the_kernel_writes.rs`.

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    (stream, scale): (&Stream<'gpu>, &Kernel<'gpu, (InOut<f32>, f32)>),
    x: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    stream.scope(|s| {
        // SAFETY: `scale` multiplies the elements that x has.
        unsafe { s.launch(scale, config, (&mut x.lend(s), 2.0)) }
    })
}
