//! Claim:   C6
//! Misuse:  use a buffer as if it were at rest while work on it is pending
//! In C:    reads old values: a synchronous copy does not wait for a non-blocking stream
//! Real:    paiml/aprender#2776
//! rustc:   E0502
//! Reads:   `lend` borrows the buffer until the end of the scope, `'1`
//! Fix:     read after the scope; or in it, in order, with `s.read(&memory, ..)`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<Vec<f32>> {
    stream.scope(|s| {
        s.fill(&mut buffer.lend(s), 1.0)?;
        buffer.to_vec() // <-
    })
}

fn main() {}
