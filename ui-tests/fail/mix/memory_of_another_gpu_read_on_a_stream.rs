//! Claim:   C2
//! Misuse:  read a buffer at rest of one device on a stream of another
//! In C:    works for plain memory, out of order with the device's own streams; with pool memory it depends on which context
//!          happens to be current
//! Real:    chelsea0x3b/cudarc#161
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the buffer is of `'gpu0`, the stream of `'gpu1`
//! Fix:     read it on a stream of its own context

use scoped_cuda::{Buffer, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    buffer0: &'scope Buffer<'gpu0, f32>,
    host: &'scope mut [f32],
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    on_gpu1.read(buffer0, host) // <-
}

fn main() {}
