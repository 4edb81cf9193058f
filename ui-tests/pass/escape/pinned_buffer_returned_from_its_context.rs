//! Twin of `fail/escape/pinned_buffer_returned_from_its_context.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let numbers = driver.with_device(0, |ctx| {
        let pinned = ctx.pinned_from(&[1.0f32, 2.0])?;
        Ok(pinned.to_vec())
    })?;
    println!("{}", numbers.len());
    Ok(())
}
