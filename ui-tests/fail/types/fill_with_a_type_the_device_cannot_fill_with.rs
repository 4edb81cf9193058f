//! Claim:   C12
//! Misuse:  fill memory with a value of 64 bits
//! In C:    memset functions take 8, 16 and 32 bits; the value would be truncated
//! Real:    none known
//! rustc:   the device cannot fill memory with a `u64`
//! Reads:   the note says which types there are
//! Fix:     `write`, or `Context::filled` for a buffer at rest

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, counters: &mut Buffer<'gpu, u64>) -> Result<()> {
    let host = vec![7; counters.len()];
    stream.scope(|s| {
        let mut memory = counters.lend(s);
        s.fill(&mut memory, 7) // <-
    })
}

fn main() {}
