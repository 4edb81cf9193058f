//! Twin of `fail/in-flight/memory_dropped_while_another_gpu_reads_it.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, Stream, Transfer};

fn f<'gpu0, 'gpu1>(
    (stream, read): (&Stream<'gpu1>, &Kernel<'gpu1, (In<f32>,)>),
    transfer: Transfer<'gpu0, 'gpu1>,
    far: Buffer<'gpu0, f32>,
) -> Result<()> {
    let there = transfer.peer_slice(&far)?;
    stream.scope(|s| {
        // SAFETY: the kernel reads 4 elements.
        unsafe { s.launch(read, LaunchConfig::for_elements(4), (there,)) }?;
        println!("{far:?}");
        Ok(())
    })
}
