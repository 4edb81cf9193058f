//! Claim:   C5
//! Misuse:  destroy a stream before the scope has waited for it
//! In C:    destroying a stream with pending work succeeds and the work goes on, with nobody able to wait for it (measured on an
//!          H200, CUDA 13.0)
//! Real:    none known
//! rustc:   cannot move out of `stream` because it is borrowed
//! Reads:   two errors for one thing: `drop` makes the closure own the stream (the first), and the scope waits for it (the second)
//! Fix:     drop after the scope

use scoped_cuda::{Buffer, Context, Result, scope};

fn f<'gpu>(gpu: Context<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let stream = gpu.new_stream()?;
    scope(|scope| {
        scope.on(&stream, |s| s.fill(&mut buffer.lend(s), 1.0))?;
        drop(stream); // <-
        Ok(())
    })
}

fn main() {}
