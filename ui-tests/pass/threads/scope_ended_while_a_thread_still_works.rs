//! Twin of `fail/threads/scope_ended_while_a_thread_still_works.rs`.

use scoped_cuda::{Driver, Result};
use std::thread;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        thread::scope(|threads| {
            threads.spawn(move || gpu.zeros::<f32>(4).map(drop));
            Ok(())
        })
    })
}
