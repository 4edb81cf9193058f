//! Claim:   C6
//! Misuse:  read a buffer that work in flight writes
//! In C:    half of the old content and half of the new
//! Real:    none known
//! rustc:   borrow of moved value: `buffer`
//! Reads:   the buffer belongs to the work, until `wait` gives it back
//! Fix:     read it after `wait`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<Vec<u32>> {
    let work = stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 7))?;
    work.wait()?;
    buffer.to_vec() // <-
}

fn main() {}
