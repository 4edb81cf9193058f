//! Twin of `fail/types/host_vec_as_an_argument.rs`.

use scoped_cuda::{Context, In, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    (gpu, stream): (Context<'gpu>, &Stream<'gpu>),
    kernel: &Kernel<'gpu, (In<f32>,)>,
) -> Result<()> {
    let host = vec![1.0f32; 4];
    let device = gpu.upload(&host)?;
    println!("{device:?}");
    stream.scope(|s| {
        // SAFETY: the kernel reads 4 elements.
        unsafe { s.launch(kernel, LaunchConfig::for_elements(4), (&device,)) }
    })
}
