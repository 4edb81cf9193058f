//! Twin of `fail/escape/context_in_a_static.rs`.

use scoped_cuda::{Context, Driver, Result};
use std::sync::OnceLock;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let current: OnceLock<Context<'_>> = OnceLock::new();
        current.set(gpu).ok();
        Ok(())
    })
}
