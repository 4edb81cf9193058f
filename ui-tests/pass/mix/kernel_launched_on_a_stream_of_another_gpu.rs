//! Twin of `fail/mix/kernel_launched_on_a_stream_of_another_gpu.rs`.

use scoped_cuda::{Kernel, LaunchConfig, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    kernel0: &'scope Kernel<'gpu0, (u32,)>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel touches no memory.
    unsafe { on_gpu0.launch(kernel0, config, (7,)) }
}
