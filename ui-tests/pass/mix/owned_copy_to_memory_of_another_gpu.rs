//! Twin of `fail/mix/owned_copy_to_memory_of_another_gpu.rs`.

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Buffers<'gpu0, 'gpu1> = (Buffer<'gpu0, u8>, Buffer<'gpu1, u8>);

fn f<'gpu0, 'gpu1>(
    stream: &Stream<'gpu0>,
    host: PinnedBuffer<'gpu0, u8>,
    buffers: Buffers<'gpu0, 'gpu1>,
) -> Result<()> {
    let copy = stream.upload_owned(host, buffers.0)?;
    drop(copy.wait()?);
    Ok(())
}
