//! Claim:   C1
//! Misuse:  return a buffer from an entry, to use it in the next one
//! In C:    nothing says whether the context is still retained when the address is used
//! Real:    -
//! rustc:   returning this value requires that `'1` must outlive `'2`
//! Reads:   `'1` is the lifetime of this entry; `'2` is that of the value you want to have afterwards
//! Fix:     return what the host needs, or detach the buffer

use scoped_cuda::{OwnedContext, Result};

fn f(gpu: &OwnedContext) -> Result<()> {
    let kept = gpu.with(|ctx| {
        let buffer = ctx.upload(&[1.0f32, 2.0])?;
        Ok(buffer) // <-
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
