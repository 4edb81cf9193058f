//! Twin of `fail/mix/safe_kernel_launched_on_a_stream_of_another_gpu.rs`.

use scoped_cuda::{LaunchConfig, Result, SafeKernel, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    kernel0: &'scope SafeKernel<'gpu0, (u32,)>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    kernel0.launch(on_gpu0, LaunchConfig::for_elements(1), (7,))
}
