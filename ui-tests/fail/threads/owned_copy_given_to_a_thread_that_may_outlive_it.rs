//! Claim:   C1
//! Misuse:  give a copy in flight to a thread, or an executor, that nobody has to join
//! In C:    the context is released while the thread waits: an error, or a crash inside the driver
//! Real:    -
//! rustc:   must outlive `'static`
//! Reads:   `thread::spawn`, like the `spawn` of most executors, wants what lasts for ever; the copy lives as long as its context
//! Fix:     `thread::scope`, or an executor that runs inside `with_device`

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        let copy = stream.upload_owned(gpu.pinned_zeros::<u8>(9)?, gpu.zeros(9)?)?;
        let work = move || copy.wait().is_ok();
        let worker = thread::spawn(work); // <-
        worker.join().unwrap();
        Ok(())
    })
}

fn main() {}
