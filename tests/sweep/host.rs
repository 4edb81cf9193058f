//! Host memory that devices reach, and memory of both sides.

use crate::Program;
use scoped_cuda::error::CloseError;
use scoped_cuda::memory::{MemoryAdvice, MemoryLocation};
use scoped_cuda::{Context, Result};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("host memory", |driver| driver.with_device(0, host_memory)),
    ("host memory, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| host_memory(ctx)))
    }),
    ("managed memory", |driver| {
        driver.with_device(0, managed_memory)
    }),
    ("managed memory, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| managed_memory(ctx)))
    }),
    ("closing host memory", |driver| {
        driver.with_device(0, closing_host_memory)
    }),
];

fn host_memory(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let source = ctx.pinned_from(&[1u32, 2, 3, 4])?;
    let mut back = ctx.pinned_zeros::<u32>(4)?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let mut combined = ctx.write_combined_from(&[0u32; 4])?;
    combined.write(&source)?;
    stream.scope(|s| {
        let mut buffer = buffer.lend(s);
        s.write(&combined, &mut buffer)?;
        s.read(&buffer, &mut back)
    })?;
    assert_eq!(*back, *source);
    stream.scope(|s| {
        let mut back = back.lend(s);
        s.fill(&mut back.slice_mut(2..)?, 9)
    })?;
    assert_eq!(*back, [1, 2, 9, 9]);
    let mut host = [0u32; 4];
    let sum = ctx.with_registered(&mut host, |host| {
        stream.scope(|s| s.read(back.device_view(), host))?;
        Ok(host.iter().sum::<u32>())
    })?;
    assert_eq!((sum, host), (21, [1, 2, 9, 9]));
    Ok(())
}

fn managed_memory(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let mut managed = ctx.managed_from(&[1u32, 2, 3, 4])?;
    managed.advise(MemoryAdvice::PreferredLocation(Some(
        MemoryLocation::Device,
    )))?;
    managed.prefetch(MemoryLocation::Device)?;
    stream.scope(|s| {
        let mut managed = managed.lend(s);
        s.fill(&mut managed.slice_mut(2..)?, 9)?;
        s.prefetch(&managed, MemoryLocation::Host)
    })?;
    assert_eq!(managed.as_slice()?, [1, 2, 9, 9]);
    managed.as_mut_slice()?.copy_from_slice(&[5; 4]);
    let zeros = ctx.managed_zeros::<u32>(4)?;
    managed.device_view_mut().copy_from(&zeros.device_view())?;
    assert_eq!(managed.as_slice()?, [0; 4]);
    Ok(())
}

/// As [`closing`].
fn closing_host_memory(ctx: Context<'_>) -> Result<()> {
    let pinned = ctx.pinned_from(&[1u8, 2])?;
    if let Err(CloseError {
        value: pinned,
        error,
        ..
    }) = pinned.close()
    {
        assert_eq!(*pinned, [1, 2]);
        return Err(error);
    }
    let managed = ctx.managed_from(&[1u8, 2])?;
    if let Err(CloseError {
        value: managed,
        error,
        ..
    }) = managed.close()
    {
        if ctx.driver().first_fault().is_none() {
            assert_eq!(managed.as_slice()?, [1, 2]);
        }
        return Err(error);
    }
    Ok(())
}
