//! Claim:   C1
//! Misuse:  keep a variable of a module after its context has ended
//! In C:    the address goes with the module: a copy is CUDA_ERROR_INVALID_VALUE, or reaches what is there now
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   a variable is part of its module, and that of its context, which ends with `with_device`
//! Fix:     take the value out, not the variable

use scoped_cuda::{Driver, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |ctx| {
        kept = Some(ctx.load_ptx(ptx)?.global::<u32>("counter", 1)?); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
