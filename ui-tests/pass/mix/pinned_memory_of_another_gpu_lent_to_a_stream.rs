//! Twin of `fail/mix/pinned_memory_of_another_gpu_lent_to_a_stream.rs`.

use scoped_cuda::{PinnedBuffer, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    pinned0: &'scope mut PinnedBuffer<'gpu0, f32>,
    pinned1: &'scope mut PinnedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{pinned0:?} {pinned1:?}");
    let mut on_device = pinned0.lend(on_gpu0);
    on_gpu0.fill(&mut on_device, 1.0)
}
