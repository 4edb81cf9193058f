//! Claim:   C2
//! Misuse:  fill a buffer of one device on a stream of another
//! In C:    CUDA_ERROR_INVALID_VALUE, for plain and for pool memory (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   memory in the order of a stream carries two names, the stream's (`'b`) and the context's (`'gpu1`); neither fits `a`
//! Fix:     fill it on its own stream

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu1: &mut OnStream<'b, Buffer<'gpu1, f32>>,
) -> Result<()> {
    println!("{a:?} {b:?}");
    a.fill(on_gpu1, 0.0) // <-
}

fn main() {}
