//! Claim:   C1, C6
//! Misuse:  keep a copy in flight, or a future, after its context has ended
//! In C:    the copy is cut off, and its event and memory are gone
//! Real:    -
//! rustc:   escapes the closure body
//! Reads:   a copy that owns its memory outlives scopes, and not its context
//! Fix:     wait for it, or run the executor, inside `with_device`

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = Vec::new();
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        let copy = stream.upload_owned(gpu.pinned_zeros::<u8>(9)?, gpu.zeros(9)?)?;
        kept.push(copy); // <-
        Ok(())
    })
}

fn main() {}
