//! Claim:   C6
//! Misuse:  drop the handle of a variable while work on the variable is pending, so that another handle could be had
//! In C:    there are no handles: everybody who knows the name has the address
//! Real:    none known
//! rustc:   cannot move out of `counter` because it is borrowed
//! Reads:   two errors for one thing: `drop` makes the closure own the handle (the first), and it is still lent (the second)
//! Fix:     drop after the scope

use scoped_cuda::{Module, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, module: &Module<'gpu>) -> Result<()> {
    let mut counter = module.global::<u32>("counter", 1)?;
    stream.scope(|s| {
        s.fill(&mut counter.as_mut_slice().lend(s), 1)?;
        drop(counter); // <-
        Ok(())
    })
}

fn main() {}
