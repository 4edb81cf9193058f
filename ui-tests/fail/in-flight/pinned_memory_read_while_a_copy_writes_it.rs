//! Claim:   C6
//! Misuse:  read page-locked memory before the copy to it is known to be done
//! In C:    sometimes the old values: the call returns while the copy waits (measured on an H200, CUDA 13.0)
//! Real:    B52, bheisler/RustaCUDA#8
//! rustc:   E0502
//! Reads:   the copy borrows `pinned` mutably until the end of the scope, `'1`, because it may run that late
//! Fix:     read after the scope

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    buffer: &Buffer<'gpu, f32>,
    mut pinned: PinnedBuffer<'gpu, f32>,
) -> Result<f32> {
    let mut first = 0.0;
    stream.scope(|s| {
        s.read(buffer, &mut pinned)?;
        first = pinned[0]; // <-
        Ok(())
    })?;
    Ok(first)
}

fn main() {}
