//! Claim:   C6
//! Misuse:  lend a buffer that was given to a stream
//! In C:    the buffer is freed in the order of one stream, and used in that of another
//! Real:    none known
//! rustc:   borrow of moved value: `buffer`
//! Reads:   `give` moves the buffer into the stream's order; what it returns is the buffer now
//! Fix:     `lend` it, or take it out with `release`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<Vec<u32>> {
    stream.scope(|s| s.fill(&mut buffer.give(s), 7))?;
    buffer.to_vec() // <-
}

fn main() {}
