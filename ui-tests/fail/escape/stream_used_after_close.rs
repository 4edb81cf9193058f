//! Claim:   C6
//! Misuse:  use a stream after it was destroyed
//! In C:    a destroyed stream handle is a dangling pointer: an error or a crash
//! Real:    none known
//! rustc:   E0382
//! Reads:   `close` takes the stream; it gives it back only together with an error
//! Fix:     close it after its last use

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.close()?;
    stream.scope(|s| s.fill(&mut buffer.lend(s), 0.0)) // <-
}

fn main() {}
