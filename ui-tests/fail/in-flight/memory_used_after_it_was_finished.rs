//! Claim:   C6
//! Misuse:  go on using memory in the order of a stream after `finish` has taken it out of that order
//! In C:    nothing: the program looks the same, and whoever relies on the wait is wrong
//! Real:    none known
//! rustc:   E0382
//! Reads:   `finish` takes the handle and gives the memory back at rest
//! Fix:     use it before, or lend what `finish` gave back: it may go to any stream

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    mut memory: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<Vec<f32>> {
    let at_rest = memory.release(s)?;
    s.fill(&mut memory, 1.0)?; // <-
    at_rest.to_vec()
}

fn main() {}
