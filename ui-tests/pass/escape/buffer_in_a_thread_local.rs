//! Twin of `fail/escape/buffer_in_a_thread_local.rs`.

use scoped_cuda::{Buffer, Driver, Result};
use std::cell::Cell;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let scratch = gpu.zeros::<u8>(1 << 20)?;
        let kept: Cell<Option<Buffer<'_, u8>>> = Cell::new(None);
        kept.set(Some(scratch));
        Ok(())
    })
}
