//! Claim:   C2
//! Misuse:  upload to a buffer of one device on a stream of another
//! In C:    succeeds for plain memory, out of order with the device's own streams; with pool memory and no current context the
//!          driver crashes (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   memory in the order of a stream carries two names, the stream's (`'b`) and the context's (`'gpu1`); neither fits `a`
//! Fix:     write on the stream that the memory is in the order of

use scoped_cuda::{OnStream, Result, ScopedStream, SliceMut};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu1: &mut OnStream<'b, SliceMut<'scope, 'gpu1, f32>>,
    host: &'scope [f32],
) -> Result<()> {
    println!("{a:?} {b:?}");
    a.write(host, on_gpu1) // <-
}

fn main() {}
