//! Twin of `fail/escape/context_released_by_hand.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let buffer = gpu.zeros::<f32>(4)?;
        drop(buffer);
        Ok(())
    })
}
