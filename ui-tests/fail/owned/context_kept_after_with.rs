//! Claim:   C1
//! Misuse:  keep the token of an owned context for the next entry
//! In C:    a `CUcontext` that was popped is used without being current
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   each entry has a lifetime of its own, which ends with the closure
//! Fix:     keep the `OwnedContext`, and enter it again

use scoped_cuda::{OwnedContext, Result};

fn f(gpu: &OwnedContext) -> Result<()> {
    let mut kept = None;
    gpu.with(|ctx| {
        kept = Some(ctx); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
