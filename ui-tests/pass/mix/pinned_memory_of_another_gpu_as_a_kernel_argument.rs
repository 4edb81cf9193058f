//! Twin of `fail/mix/pinned_memory_of_another_gpu_as_a_kernel_argument.rs`.

use scoped_cuda::{In, Kernel, LaunchConfig, PinnedBuffer, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    kernel0: &'scope Kernel<'gpu0, (In<f32>,)>,
    pinned0: &'scope PinnedBuffer<'gpu0, f32>,
    pinned1: &'scope PinnedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{pinned0:?} {pinned1:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu0.launch(kernel0, config, (pinned0.device_view(),)) }
}
