//! Claim:   C1
//! Misuse:  send a buffer to somebody outside of the scope
//! In C:    the receiver holds the address of memory whose context is gone
//! Real:    none known
//! rustc:   `gpu` escapes the closure body here
//! Reads:   the channel is declared outside, so what goes through it would outlive `gpu`
//! Fix:     make the channel inside the closure, or send host memory

use scoped_cuda::{Driver, Result};
use std::sync::mpsc::channel;

fn f(driver: Driver) -> Result<()> {
    let (results, collected) = channel();
    driver.with_device(0, |gpu| {
        let buffer = gpu.upload(&[1.0f32, 4.0, 9.0])?;
        results.send(buffer).unwrap(); // <-
        Ok(())
    })?;
    println!("{:?}", collected.recv());
    Ok(())
}

fn main() {}
