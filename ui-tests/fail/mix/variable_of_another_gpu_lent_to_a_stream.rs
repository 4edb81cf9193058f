//! Claim:   C2
//! Misuse:  put a variable of a module of one device into the order of a stream of another
//! In C:    every device that loads the module has a variable of this name, and the wrong one is written without an error
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the variable is of a module of `'gpu0`, the stream of `'gpu1`
//! Fix:     load the module in the other context too: that one has a variable of its own

use scoped_cuda::{Global, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    counter0: &'scope mut Global<'gpu0, u32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let memory = counter0.as_mut_slice().lend(on_gpu1); // <-
    println!("{memory:?}");
    Ok(())
}

fn main() {}
