//! Claim:   C6
//! Misuse:  wait for one stream and take back memory that another one still uses
//! In C:    cuStreamSynchronize names any stream; whether it is the right one, nothing says
//! Real:    NVlabs/cuda-oxide#619 (B65)
//! rustc:   `'a` and `'b` must be the same
//! Reads:   `finish` waits for its own stream, so it takes memory in the order of that one
//! Fix:     finish on the stream that has the memory, or `take` it over first

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<Buffer<'gpu, f32>> {
    a.fill(&mut memory, 1.0)?;
    memory.release(b) // <-
}

fn main() {}
