//! Claim:   C1
//! Misuse:  give the context to a thread that nobody has to join
//! In C:    the context is released while the thread works: errors, or a crash inside the driver
//! Real:    Rust-GPU/rust-cuda#21
//! rustc:   argument requires that `'1` must outlive `'static`
//! Reads:   `thread::spawn` wants what lasts for ever; the context's lifetime `'1` ends with the closure
//! Fix:     `thread::scope` inside the closure; the context is `Copy + Send`

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<f32> {
    driver.with_device(0, |gpu| {
        let work = move || gpu.upload(&[1.0f32])?.to_vec();
        let worker = thread::spawn(work); // <-
        Ok(worker.join().unwrap()?[0])
    })
}

fn main() {}
