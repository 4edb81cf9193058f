//! Claim:   C5
//! Misuse:  use `?` on another error than the crate's inside `scope` (a papercut: nothing is wrong with it)
//! In C:    no counterpart
//! Real:    none known
//! rustc:   `?` couldn't convert the error to `scoped_cuda::Error`
//! Reads:   the closure of `scope` returns the crate's `Result`, so that its type never has to be written
//! Fix:     `try_scope`, which takes any error that a `scoped_cuda::Error` converts to

use scoped_cuda::{Buffer, Stream};
use std::error::Error;

fn f<'gpu>(
    (stream, buffer): (&Stream<'gpu>, &mut Buffer<'gpu, f32>),
    text: &str,
) -> Result<(), Box<dyn Error>> {
    stream.scope(|s| {
        let value = text.parse()?; // <-
        s.fill(&mut buffer.lend(s), value)?;
        Ok(())
    })?;
    Ok(())
}

fn main() {}
