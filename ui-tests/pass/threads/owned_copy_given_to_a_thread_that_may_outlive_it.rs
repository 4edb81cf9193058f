//! Twin of `fail/threads/owned_copy_given_to_a_thread_that_may_outlive_it.rs`.

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        let copy = stream.upload_owned(gpu.pinned_zeros::<u8>(9)?, gpu.zeros(9)?)?;
        let work = move || copy.wait().is_ok();
        thread::scope(|threads| threads.spawn(work).join().unwrap());
        Ok(())
    })
}
