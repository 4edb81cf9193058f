//! Claim:   C2
//! Misuse:  mix what two scopes on the same device have made
//! In C:    with two contexts on one device, freeing memory under the other context's work ended the process with
//!          CUDA_ERROR_LAUNCH_FAILED (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   `outer` escapes the closure body here
//! Reads:   a scope is named by its call and not by its device; between closures rustc blames the lines that made the two objects
//!          and not the one that mixes them, `s.lend`
//! Fix:     pass the outer context in, and open a device once

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |outer| {
        driver.with_device(0, |inner| {
            let stream = outer.new_stream()?;
            let mut buffer = inner.zeros::<f32>(4)?; // <-
            println!("{outer:?} {inner:?}");
            stream.scope(|s| s.fill(&mut buffer.lend(s), 1.0))
        })
    })
}

fn main() {}
