//! Claim:   C5
//! Misuse:  make the stream inside the scope that is to wait for it
//! In C:    works, as long as the stream is not destroyed before the wait
//! Real:    none known
//! rustc:   argument requires that `stream` is borrowed for `'1`
//! Reads:   the scope waits for its streams after the closure has ended, where this one would be gone
//! Fix:     make it before the scope, and keep it: making a stream takes 5 microseconds

use scoped_cuda::{Buffer, Context, Result, scope};

fn f<'gpu>(gpu: Context<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    scope(|scope| {
        let stream = gpu.new_stream()?;
        scope.on(&stream, |s| s.fill(&mut buffer.lend(s), 1.0))?; // <-
        Ok(())
    })
}

fn main() {}
