//! Claim:   C2
//! Misuse:  copy between two entries of what may be two contexts
//! In C:    the copy is made, or refused, by what the addresses happen to be
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   two entries have two names, of one owner as of two: the compiler does not know which
//! Fix:     make both in one entry, or prove it with `Context::same_context`

use scoped_cuda::{OwnedContext, Result};

fn f(first: &OwnedContext, second: &OwnedContext) -> Result<()> {
    first.with(|a| {
        let source = a.upload(&[1u32, 2, 3])?;
        second.with(|b| {
            let mut destination = b.zeros::<u32>(3)?;
            destination.copy_from(&source) // <-
        })
    })
}

fn main() {}
