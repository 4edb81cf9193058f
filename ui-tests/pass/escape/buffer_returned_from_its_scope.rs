//! Twin of `fail/escape/buffer_returned_from_its_scope.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let squares = driver.with_device(0, |gpu| {
        let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
        buffer.to_vec()
    })?;
    println!("{squares:?}");
    Ok(())
}
