//! Twin of `fail/in-flight/buffer_read_after_it_moved_into_a_copy.rs`.

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Sides<'gpu> = (PinnedBuffer<'gpu, u8>, Buffer<'gpu, u8>);

fn f<'gpu>(stream: &Stream<'gpu>, (host, device): Sides<'gpu>) -> Result<Vec<u8>> {
    let copy = stream.upload_owned(host, device)?;
    let (_host, device) = copy.wait()?;
    device.to_vec()
}
