//! Claim:   C6
//! Misuse:  free a buffer while work on it is pending
//! In C:    an asynchronous free on another stream does not wait for the last use
//! Real:    NVlabs/cuda-oxide#619, JuliaGPU/CUDA.jl#778
//! rustc:   cannot move out of `buffer` because it is borrowed
//! Reads:   two errors for one thing: `drop` makes the closure own the buffer (the first), and it is still lent (the second)
//! Fix:     drop after the scope; memory that is to be freed in the stream's order comes from `s.zeros(..)`

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    let mut buffer = gpu.zeros::<f32>(4)?;
    stream.scope(|s| {
        s.fill(&mut buffer.lend(s), 1.0)?;
        drop(buffer); // <-
        Ok(())
    })
}

fn main() {}
