//! Claim:   C1, C4
//! Misuse:  keep the context in a static
//! In C:    what a static owns is torn down after the driver began to unload, where calls fail with codes that the driver no
//!          longer has names for (measured on an H200, CUDA 13.0)
//! Real:    opencv/opencv#7816
//! rustc:   argument requires that `'1` must outlive `'static`
//! Reads:   a static wants `Context<'static>`; the context's lifetime `'1` ends with the closure
//! Fix:     keep it in a local variable and pass it on: `Context` is `Copy`

use scoped_cuda::{Context, Driver, Result};
use std::sync::OnceLock;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        static GPU: OnceLock<Context<'static>> = OnceLock::new();
        GPU.set(gpu).ok(); // <-
        Ok(())
    })
}

fn main() {}
