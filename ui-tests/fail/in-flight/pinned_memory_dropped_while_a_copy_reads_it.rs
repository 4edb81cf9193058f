//! Claim:   C6
//! Misuse:  free page-locked memory after the copy from it was enqueued
//! In C:    not measured
//! Real:    B60, RustNSparks/rocm-rs#7
//! rustc:   E0505
//! Reads:   two errors for one thing: `drop` makes the closure own the buffer (the first), and it is still lent (the second)
//! Fix:     drop it after the scope

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    buffer: &mut Buffer<'gpu, f32>,
    pinned: PinnedBuffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&pinned, &mut memory)?;
        drop(pinned); // <-
        Ok(())
    })
}

fn main() {}
