//! Claim:   C6
//! Misuse:  write page-locked memory after the copy from it was enqueued
//! In C:    the device sees the later value: the call returns before the copy, always (measured on an H200, CUDA 13.0)
//! Real:    B50, chelsea0x3b/cudarc#340
//! rustc:   E0502
//! Reads:   the copy borrows `pinned` until the end of the scope, `'1`, because it may run that late
//! Fix:     write after the scope, or copy from another buffer

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    buffer: &mut Buffer<'gpu, f32>,
    mut pinned: PinnedBuffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&pinned, &mut memory)?;
        pinned[0] = 2.0; // <-
        Ok(())
    })
}

fn main() {}
