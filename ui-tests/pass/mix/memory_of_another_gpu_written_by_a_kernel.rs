//! Twin of `fail/mix/memory_of_another_gpu_written_by_a_kernel.rs`.

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Out, PeerSliceMut, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu1: ScopedStream<'a, 'scope, 'gpu1>,
    write: &'scope Kernel<'gpu1, (Out<f32>,)>,
    far: &'scope mut Buffer<'gpu0, f32>,
    reached: PeerSliceMut<'scope, 'gpu1, f32>,
) -> Result<()> {
    println!("{far:?} {reached:?}");
    let config = LaunchConfig::for_elements(4);
    let mut there = reached.lend(on_gpu1);
    // SAFETY: the kernel writes 4 elements.
    unsafe { on_gpu1.launch(write, config, (&mut there,)) }
}
