//! Claim:   C6
//! Misuse:  keep the slice that is page-locked for the length of a closure
//! In C:    the memory stays locked for as long as nobody unlocks it, freed or not
//! Real:    none known
//! rustc:   lifetime may not live long enough
//! Reads:   the closure's result would borrow what is borrowed for the closure's call only
//! Fix:     use the memory itself afterwards

use scoped_cuda::{Context, Result};

fn f(ctx: Context<'_>, host: &mut [f32]) -> Result<()> {
    let kept = ctx.with_registered(host, |host| Ok(host))?; // <-
    kept[0] = 1.0;
    Ok(())
}

fn main() {}
