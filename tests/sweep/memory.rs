//! Device memory, at rest and made in a scope, and what gives things back.

use crate::Program;
use scoped_cuda::error::CloseError;
use scoped_cuda::{Context, Error, Result};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("memory at rest", |driver| {
        driver.with_device(0, memory_at_rest)
    }),
    ("memory at rest, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| memory_at_rest(ctx)))
    }),
    ("memory at rest, no context current", |driver| {
        driver.with_device(0, on_a_thread)
    }),
    ("closing", |driver| driver.with_device(0, closing)),
    ("memory made in a scope", |driver| {
        driver.with_device(0, memory_made_in_a_scope)
    }),
];

fn memory_at_rest(ctx: Context<'_>) -> Result<()> {
    ctx.free_memory_bytes()?;
    let source = ctx.upload(&[1u32, 2, 3, 4])?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    buffer.copy_from(&source)?;
    buffer.slice_mut(1..3)?.write(&[7, 8])?;
    assert_eq!(buffer.to_vec()?, [1, 7, 8, 4]);
    for byte in ctx.filled(3, 9u8)?.to_vec()? {
        assert_eq!(byte, 9);
    }
    ctx.filled(3, 9u16)?;
    ctx.filled(3, 9.0f64)?;
    ctx.memory_usage()?;
    ctx.trim_memory(0)?;
    ctx.uninit::<u8>(1000).map(drop)
}

fn on_a_thread(ctx: Context<'_>) -> Result<()> {
    std::thread::scope(|threads| {
        let worker = threads.spawn(|| {
            let result = memory_at_rest(ctx);
            // Not a driver call: that would be one more to fail.
            assert_eq!(
                ctx.driver().machine().map(|machine| machine.stack_depth()),
                Some(0)
            );
            result
        });
        worker.join().unwrap()
    })
}

/// B147: an object that could not be closed comes back and is still what it was.
fn closing(ctx: Context<'_>) -> Result<()> {
    let buffer = ctx.upload(&[1u8, 2])?;
    if let Err(CloseError {
        value: buffer,
        error,
        ..
    }) = buffer.close()
    {
        if ctx.driver().first_fault().is_none() {
            assert_eq!(buffer.to_vec()?, [1, 2]);
        }
        return Err(error);
    }
    let stream = ctx.new_stream()?;
    if let Err(CloseError {
        value: stream,
        error,
        ..
    }) = stream.close()
    {
        if ctx.driver().first_fault().is_none() {
            stream.scope(|_| Ok(()))?;
        }
        return Err(error);
    }
    for event in [ctx.new_event()?, ctx.new_event()?] {
        if let Err(CloseError {
            value: event,
            error,
            ..
        }) = event.close()
        {
            assert_eq!(event.is_complete(), Err(Error::EventNotRecorded));
            return Err(error);
        }
    }
    ctx.new_timed_event()?.close().map_err(Error::from)
}

fn memory_made_in_a_scope(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let host = [1u32, 2, 3, 4];
    let mut buffer = ctx.zeros::<u32>(4)?;
    let (made, early) = stream.scope(|s| {
        let made = s.upload(&host)?;
        let mut lent = buffer.lend(s);
        s.copy(&made, &mut lent)?;
        let early = lent.release(s)?.as_slice().to_vec()?;
        let memory = s.uninit(4)?;
        drop(s.write_init(&host, memory)?);
        Ok((made.release(s)?, early))
    })?;
    assert_eq!((made.to_vec()?, early), (host.to_vec(), host.to_vec()));
    Ok(())
}
