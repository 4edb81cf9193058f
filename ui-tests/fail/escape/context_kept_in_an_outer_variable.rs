//! Claim:   C1
//! Misuse:  keep the context token beyond its scope
//! In C:    after the last release the context still is the thread's current one, and every call with it fails with
//!          CUDA_ERROR_CONTEXT_IS_DESTROYED (measured on an H200, CUDA 13.0)
//! Real:    bheisler/RustaCUDA#35
//! rustc:   borrowed data escapes outside of closure
//! Reads:   the context may be copied, but every copy ends with the closure
//! Fix:     keep the `Driver` or the `Device` and call `with_device` again where the context is needed

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        kept = Some(gpu); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
