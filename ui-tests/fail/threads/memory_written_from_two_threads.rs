//! Claim:   C6
//! Misuse:  write the same memory from two threads
//! In C:    the order of the two calls is whatever the threads make of it
//! Real:    none known
//! rustc:   E0499
//! Reads:   an operation that writes borrows the handle mutably, and two threads cannot both do that
//! Fix:     give each thread its own part, `split_at_mut`

use scoped_cuda::{Buffer, Result, Stream};
use std::thread;

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        thread::scope(|threads| {
            threads.spawn(|| s.fill(&mut memory, 1.0));
            threads.spawn(|| s.fill(&mut memory, 2.0)); // <-
            Ok(())
        })
    })
}

fn main() {}
