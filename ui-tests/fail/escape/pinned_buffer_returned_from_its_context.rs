//! Claim:   C1
//! Misuse:  keep page-locked memory after the context that it belongs to
//! In C:    the memory is gone with the last release of the context
//! Real:    none known
//! rustc:   lifetime may not live long enough
//! Reads:   the buffer borrows the context, `'2`, for all its life
//! Fix:     return a copy in ordinary memory

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let numbers = driver.with_device(0, |ctx| {
        let pinned = ctx.pinned_from(&[1.0f32, 2.0])?;
        Ok(pinned) // <-
    })?;
    println!("{}", numbers.len());
    Ok(())
}

fn main() {}
