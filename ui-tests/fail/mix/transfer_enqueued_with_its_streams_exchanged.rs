//! Claim:   C2, C8
//! Misuse:  name the destination's stream as the one that the source is in the order of
//! In C:    an event of one context recorded on a stream of another is CUDA_ERROR_INVALID_HANDLE (measured on two H200, CUDA
//!          13.0); without events the copy races with whoever writes the source
//! Real:    chelsea0x3b/cudarc#561
//! rustc:   `'a` and `'b` must be the same
//! Reads:   two pairs are mixed up, so there are four errors: `'a` and `'b` are the streams, `'gpu0` and `'gpu1` the contexts
//! Fix:     source next to its own stream, destination next to its own: `enqueue(a, source, b, destination)`

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream, Transfer};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    source: &OnStream<'a, Buffer<'gpu0, f32>>,
    destination: &mut OnStream<'b, Buffer<'gpu1, f32>>,
) -> Result<()> {
    transfer.enqueue(b, source, a, destination) // <-
}

fn main() {}
