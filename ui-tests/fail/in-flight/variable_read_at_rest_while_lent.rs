//! Claim:   C6
//! Misuse:  read a variable of a module as if it were at rest while work on it is pending
//! In C:    reads the old value, the new one, or some of each
//! Real:    none known
//! rustc:   E0502
//! Reads:   `view_mut` borrows the variable for as long as its view is lent: until the end of the scope, `'1`
//! Fix:     read after the scope; or in it, in order, with `s.read(&memory, ..)`

use scoped_cuda::{Global, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, counter: &mut Global<'gpu, u32>) -> Result<u32> {
    stream.scope(|s| {
        s.fill(&mut counter.as_mut_slice().lend(s), 1)?;
        counter.get() // <-
    })
}

fn main() {}
