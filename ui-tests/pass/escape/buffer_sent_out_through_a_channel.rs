//! Twin of `fail/escape/buffer_sent_out_through_a_channel.rs`.

use scoped_cuda::{Driver, Result};
use std::sync::mpsc::channel;

fn f(driver: Driver) -> Result<()> {
    let (results, collected) = channel();
    driver.with_device(0, |gpu| {
        let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
        results.send(buffer.to_vec()?).unwrap();
        Ok(())
    })?;
    println!("{:?}", collected.recv());
    Ok(())
}
