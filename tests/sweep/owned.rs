//! What outlives closures: owned contexts.

use crate::Program;
use scoped_cuda::{Buffer, Driver, Result, Stream, family};
use std::sync::mpsc;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("an owned context", owned_context),
    (
        "an owner that goes in a host function",
        owner_in_a_host_function,
    ),
    ("detached values", detached_values),
    ("a detached copy", detached_copy),
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

struct Pair<'ctx> {
    stream: Stream<'ctx>,
    buffer: Buffer<'ctx, u32>,
}
family!(Pair);

fn detached_values(driver: Driver) -> Result<()> {
    let mut pair = driver.with_device(0, |ctx| {
        let (stream, buffer) = (ctx.new_stream()?, ctx.zeros(2)?);
        Ok(ctx.detach(Pair { stream, buffer }))
    })?;
    pair.with_mut(|_, Pair { stream, buffer }| stream.scope(|s| s.fill(&mut buffer.lend(s), 7)))?;
    let other = driver.with_device(1, |other| {
        assert!(pair.get(other).is_err());
        Ok(other.detach(other.zeros::<u8>(1)?))
    })?;
    let back = pair.with(|_, pair| pair.buffer.to_vec())?;
    assert_eq!(back, [7, 7]);
    // Dropped where no call may be made.
    let (sender, receiver) = mpsc::channel();
    sender.send(pair).unwrap();
    other.with(|ctx, _| {
        let stream = ctx.new_stream()?;
        stream.scope(|s| s.host(move || drop(receiver.recv())))
    })
}

fn detached_copy(driver: Driver) -> Result<()> {
    let copy = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
        Ok(ctx.detach(stream.upload_owned(host, device)?))
    })?;
    let (_host, device) = copy.owner().clone().with(|ctx| {
        let (host, device) = copy.into_inner(ctx)?.wait()?;
        Ok((ctx.detach(host), ctx.detach(device)))
    })?;
    assert_eq!(device.with(|_, device| device.to_vec())?, [1, 2]);
    Ok(())
}
