//! Claim:   C1
//! Misuse:  let the context end before the threads that use it are joined
//! In C:    the last release destroys the context under the thread
//! Real:    Rust-GPU/rust-cuda#21
//! rustc:   `gpu` escapes the closure body here
//! Reads:   the threads are joined at the end of `thread::scope`, which here comes after the end of `gpu`
//! Fix:     `thread::scope` inside `with_device`

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<()> {
    thread::scope(|threads| {
        driver.with_device(0, |gpu| {
            threads.spawn(move || gpu.zeros::<f32>(4).map(drop)); // <-
            Ok(())
        })
    })
}

fn main() {}
