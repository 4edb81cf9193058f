//! Code in a stream: kernels and host functions.

#![allow(unsafe_code)] // launches

use crate::Program;
use crate::common::PTX;
use scoped_cuda::{Context, In, InOut, LaunchConfig, Result};
use std::sync::Arc;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("kernels", |driver| driver.with_device(0, kernels)),
    ("host functions", |driver| {
        driver.with_device(0, host_functions)
    }),
];

fn kernels(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(PTX)?;
    module.parameters("add")?;
    let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
    drop(module);
    let stream = ctx.stream()?;
    let x = ctx.filled(4, 1u32)?;
    let mut y = ctx.filled(4, 2u32)?;
    stream.scope(|s| {
        let mut y = s.lend(&mut y);
        // SAFETY: `add` stays below 4, which both have.
        unsafe { s.launch(&add, LaunchConfig::for_elements(4), (&x, &mut y, 4)) }
    })?;
    assert_eq!(y.to_vec()?, [3; 4]);
    Ok(())
}

/// B152: whether it was called, refused or given up, a host function is dropped, before its scope returns.
fn host_functions(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let held = Arc::new(());
    let result = stream.scope(|s| {
        let mut lent = s.lend(&mut buffer);
        for i in 0..3 {
            s.fill(&mut lent, i)?;
            let held = Arc::clone(&held);
            s.host(move || drop(held))?;
        }
        Ok(())
    });
    assert_eq!(Arc::strong_count(&held), 1);
    result
}
