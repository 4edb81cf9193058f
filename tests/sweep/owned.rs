//! What outlives closures: owned contexts.

use crate::Program;
use scoped_cuda::{Driver, Result};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("an owned context", owned_context),
    (
        "an owner that goes in a host function",
        owner_in_a_host_function,
    ),
];

fn owned_context(driver: Driver) -> Result<()> {
    let gpu = driver.retain(0)?;
    let sum = gpu.with(|ctx| {
        let numbers = ctx.upload(&[1u32, 2])?.to_vec()?;
        // Again, under another name, and by the device.
        gpu.with(|again| again.zeros::<u8>(4).map(drop))?;
        driver.with_device(0, |third| third.zeros::<u8>(4).map(drop))?;
        Ok(numbers[0] + numbers[1])
    })?;
    assert_eq!(sum, 3);
    let kept = driver.with_device(0, |ctx| Ok(ctx.owner()))?;
    drop(gpu);
    kept.with(|ctx| {
        ctx.new_stream()?;
        Ok(())
    })
}

fn owner_in_a_host_function(driver: Driver) -> Result<()> {
    let gpu = driver.retain(0)?;
    driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        stream.scope(|s| s.host(move || drop(gpu)))
    })
}
