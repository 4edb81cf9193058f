//! Claim:   C2
//! Misuse:  copy to memory of another device on a stream of this one
//! In C:    pool memory is refused with CUDA_ERROR_INVALID_VALUE; with no context current the driver crashes
//! Real:    -
//! rustc:   must be the same
//! Reads:   the copy is in the order of a stream of `'gpu0`, the buffer is of `'gpu1`
//! Fix:     use a stream and page-locked memory of the same context

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Buffers<'gpu0, 'gpu1> = (Buffer<'gpu0, u8>, Buffer<'gpu1, u8>);

fn f<'gpu0, 'gpu1>(
    stream: &Stream<'gpu0>,
    host: PinnedBuffer<'gpu0, u8>,
    buffers: Buffers<'gpu0, 'gpu1>,
) -> Result<()> {
    let copy = stream.upload_owned(host, buffers.1)?; // <-
    drop(copy.wait()?);
    Ok(())
}

fn main() {}
