//! Twin of `fail/in-flight/host_memory_written_after_it_moved_into_a_copy.rs`.

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Sides<'gpu> = (PinnedBuffer<'gpu, u8>, Buffer<'gpu, u8>);

fn f<'gpu>(stream: &Stream<'gpu>, (mut host, device): Sides<'gpu>) -> Result<()> {
    host.fill(1);
    let copy = stream.upload_owned(host, device)?;
    let (mut host, _device) = copy.wait()?;
    host.fill(0);
    Ok(())
}
