//! Twin of `fail/types/buffer_where_the_kernel_expects_rows.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, PitchedBuffer, Result, Rows, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    kernel: &Kernel<'gpu, (In<Rows<f32>>, u64)>,
    (image, buffer): (&PitchedBuffer<'gpu, f32>, &Buffer<'gpu, f32>),
) -> Result<()> {
    println!("{image:?}, {buffer:?}");
    let config = LaunchConfig::for_elements(2);
    // SAFETY: an example of types, not of a kernel.
    stream.scope(|s| unsafe { s.launch(kernel, config, (image, 512)) })
}
