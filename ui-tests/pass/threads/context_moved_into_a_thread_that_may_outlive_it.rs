//! Twin of `fail/threads/context_moved_into_a_thread_that_may_outlive_it.rs`.

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<f32> {
    driver.with_device(0, |gpu| {
        let work = move || gpu.upload(&[1.0f32])?.to_vec();
        let first = thread::scope(|threads| threads.spawn(work).join().unwrap());
        Ok(first?[0])
    })
}
