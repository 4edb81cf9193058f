//! Twin of `fail/types/memory_reached_to_read_where_the_kernel_writes.rs`.

use scoped_cuda::{Kernel, LaunchConfig, Out, PeerSlice, PeerSliceMut, Result, Stream};

fn f<'gpu>(
    (stream, write): (&Stream<'gpu>, &Kernel<'gpu, (Out<f32>,)>),
    to_read: PeerSlice<'_, 'gpu, f32>,
    to_write: PeerSliceMut<'_, 'gpu, f32>,
) -> Result<()> {
    println!("{to_read:?} {to_write:?}");
    let config = LaunchConfig::for_elements(4);
    stream.scope(|s| {
        // SAFETY: the kernel writes 4 elements.
        unsafe { s.launch(write, config, (&mut to_write.lend(s),)) }
    })
}
