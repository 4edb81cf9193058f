//! Streams and their scopes, events, and scopes that do not end well.

use crate::{ON_PURPOSE, Program};
use scoped_cuda::{Context, Error, Result, StreamOptions, scope};
use std::panic::panic_any;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("one stream", |driver| driver.with_device(0, one_stream)),
    ("two streams", |driver| driver.with_device(0, two_streams)),
    ("events", |driver| driver.with_device(0, events)),
    ("a panic in a scope", |driver| {
        driver.with_device(0, panicking)
    }),
    ("an error in a scope", |driver| {
        driver.with_device(0, |ctx| match failing(ctx) {
            Err(Error::NoDevice) => Ok(()),
            other => other,
        })
    }),
];

fn one_stream(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let (source, mut back) = ([1, 2, 3, 4], [0; 4]);
    stream.scope(|s| {
        let mut lent = buffer.lend(s);
        s.write(&source, &mut lent)?;
        let mut scratch = s.zeros::<u32>(4)?;
        s.copy(&lent, &mut scratch)?;
        s.fill(&mut lent, 5)?;
        s.fill(&mut s.zeros::<u16>(4)?, 5)?;
        s.fill(&mut s.zeros::<u8>(4)?, 5)?;
        s.read(&scratch, &mut back)
    })?;
    assert_eq!(back, source);
    Ok(())
}

fn two_streams(ctx: Context<'_>) -> Result<()> {
    let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
    let mut back = [0; 4];
    scope(|scope| {
        scope.on(&first, |a| {
            let mut memory = a.zeros::<u32>(4)?;
            a.fill(&mut memory, 6)?;
            scope.on(&second, |b| {
                let memory = memory.hand_over(a, b)?;
                b.read(&memory, &mut back)
            })
        })
    })?;
    assert_eq!(back, [6; 4]);
    Ok(())
}

fn events(ctx: Context<'_>) -> Result<()> {
    let (first, event) = (ctx.new_stream()?, ctx.new_event()?);
    let second = ctx.new_stream_with(StreamOptions::default().priority(-1).name("second"))?;
    let (start, end) = (ctx.new_timed_event()?, ctx.new_timed_event()?);
    let mut buffer = ctx.zeros::<u32>(4)?;
    scope(|scope| {
        scope.on(&first, |s| {
            s.record(&start)?;
            s.fill(&mut buffer.lend(s), 1)?;
            s.record(&event)
        })?;
        scope.on(&second, |s| {
            s.wait(&event)?;
            s.record(&end)
        })?;
        event.is_complete()?;
        first.is_idle()?;
        end.synchronize()
    })?;
    end.elapsed_since(&start).map(drop)
}

/// The driver's failure is reported by a teardown or not at all: the panic goes first.
fn panicking(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    stream.scope(|s| {
        let mut lent = buffer.lend(s);
        let mut scratch = s.zeros::<u32>(4)?;
        s.fill(&mut scratch, 1)?;
        s.copy(&scratch, &mut lent)?;
        panic_any(ON_PURPOSE)
    })
}

fn failing(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    stream.scope(|s| {
        s.fill(&mut buffer.lend(s), 1)?;
        Err(Error::NoDevice)
    })
}
