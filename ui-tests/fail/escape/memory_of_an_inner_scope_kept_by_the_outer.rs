//! Claim:   C1, C6
//! Misuse:  keep a view of an inner scope's buffer, under the outer scope's name
//! In C:    the address of freed memory
//! Real:    none known
//! rustc:   reference to `memory` escapes the closure body here
//! Reads:   two errors for one thing: the view has both scopes in it, and it borrows the buffer, which its own scope frees
//! Fix:     copy it into a buffer of the outer scope

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, outer: Context<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |inner| {
        let memory = inner.zeros::<f32>(4)?;
        let same = outer.same_context(inner)?;
        kept = Some(same.slice_of(&memory)); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
