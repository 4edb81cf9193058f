//! Twin of `fail/mix/memory_reached_for_one_gpu_in_a_kernel_of_a_third.rs`.

use scoped_cuda::{In, Kernel, LaunchConfig, PeerSlice, Result, ScopedStream};

fn f<'a, 'scope, 'gpu1, 'gpu2>(
    on_gpu2: ScopedStream<'a, 'scope, 'gpu2>,
    read: &'scope Kernel<'gpu2, (In<f32>,)>,
    for_gpu1: &'scope PeerSlice<'scope, 'gpu1, f32>,
    for_gpu2: &'scope PeerSlice<'scope, 'gpu2, f32>,
) -> Result<()> {
    println!("{for_gpu1:?} {for_gpu2:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu2.launch(read, config, (*for_gpu2,)) }
}
