//! Twin of `fail/mix/kernel_argument_of_another_gpu.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    kernel0: &'scope Kernel<'gpu0, (In<f32>,)>,
    buffer0: &'scope Buffer<'gpu0, f32>,
    buffer1: &'scope Buffer<'gpu1, f32>,
) -> Result<()> {
    println!("{buffer0:?} {buffer1:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu0.launch(kernel0, config, (buffer0,)) }
}
