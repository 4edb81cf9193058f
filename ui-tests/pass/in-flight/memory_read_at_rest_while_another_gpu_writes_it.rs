//! Twin of `fail/in-flight/memory_read_at_rest_while_another_gpu_writes_it.rs`.

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Out, Result, Stream, Transfer};

fn f<'gpu0, 'gpu1>(
    (stream, write): (&Stream<'gpu1>, &Kernel<'gpu1, (Out<f32>,)>),
    transfer: Transfer<'gpu0, 'gpu1>,
    far: &mut Buffer<'gpu0, f32>,
) -> Result<Vec<f32>> {
    let there = transfer.peer_slice_mut(far)?;
    let config = LaunchConfig::for_elements(4);
    stream.scope(|s| {
        // SAFETY: the kernel writes 4 elements.
        unsafe { s.launch(write, config, (&mut there.lend(s),)) }?;
        Ok(())
    })?;
    far.to_vec()
}
