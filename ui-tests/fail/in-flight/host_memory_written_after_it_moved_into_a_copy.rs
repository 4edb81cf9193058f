//! Claim:   C6
//! Misuse:  write to page-locked memory while a copy that owns it is reading it
//! In C:    the device gets some of the new bytes
//! Real:    NVlabs/cutile-rs#272
//! rustc:   E0382
//! Reads:   the memory has moved into the copy, which gives it back when it is done
//! Fix:     take it from `wait()` or `await`

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

type Sides<'gpu> = (PinnedBuffer<'gpu, u8>, Buffer<'gpu, u8>);

fn f<'gpu>(stream: &Stream<'gpu>, (mut host, device): Sides<'gpu>) -> Result<()> {
    host.fill(1);
    let copy = stream.upload_owned(host, device)?;
    host.fill(0); // <-
    drop(copy.wait()?);
    Ok(())
}

fn main() {}
