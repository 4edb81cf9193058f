//! Claim:   C6
//! Misuse:  read a buffer while a copy that owns it is writing it
//! In C:    the read sees old bytes, new bytes or some of both
//! Real:    NVlabs/cutile-rs#272
//! rustc:   E0382
//! Reads:   the buffer has moved into the copy, which gives it back when it is done
//! Fix:     take it from `wait()` or `await`

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Sides<'gpu> = (PinnedBuffer<'gpu, u8>, Buffer<'gpu, u8>);

fn f<'gpu>(stream: &Stream<'gpu>, (host, device): Sides<'gpu>) -> Result<Vec<u8>> {
    let copy = stream.upload_owned(host, device)?;
    let bytes = device.to_vec(); // <-
    drop(copy.wait()?);
    bytes
}

fn main() {}
