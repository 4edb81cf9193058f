//! Variables of modules.

#![allow(unsafe_code)] // launches

use crate::Program;
use crate::common::PTX;
use scoped_cuda::{Context, LaunchConfig, Result};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("variables", |driver| driver.with_device(0, variables)),
    ("variables, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| variables(ctx)))
    }),
];

fn variables(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(PTX)?;
    let count = module.kernel::<()>("count")?;
    let mut counter = module.global::<u32>("counter", 1)?;
    drop(module);
    let stream = ctx.new_stream()?;
    counter.set(10)?;
    let mut seen = [0];
    stream.scope(|s| {
        let mut lent = counter.as_mut_slice().lend(s);
        // SAFETY: the counter is in the order of this stream.
        unsafe { s.launch(&count, LaunchConfig::new([1; 3], [5, 1, 1]), ()) }?;
        s.read(&lent, &mut seen)?;
        s.fill(&mut lent, 3)
    })?;
    assert_eq!((seen, counter.get()?), ([15], 3));
    Ok(())
}
