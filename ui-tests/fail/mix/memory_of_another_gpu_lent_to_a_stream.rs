//! Claim:   C2
//! Misuse:  put a buffer of one device into the order of a stream of another
//! In C:    a memset with it is CUDA_ERROR_INVALID_VALUE, a host copy succeeds and a kernel that touches it without peer access
//!          makes every device of the process unusable (measured on two H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the buffer is of `'gpu0`, the stream of `'gpu1`
//! Fix:     lend it to a stream of its own context

use scoped_cuda::{Buffer, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    buffer0: &'scope mut Buffer<'gpu0, f32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let memory = buffer0.lend(on_gpu1); // <-
    println!("{memory:?}");
    Ok(())
}

fn main() {}
