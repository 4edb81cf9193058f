//! Twin of `fail/escape/variable_kept_after_its_context.rs`.

use scoped_cuda::{Driver, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |ctx| {
        kept = Some(ctx.load_ptx(ptx)?.global::<u32>("counter", 1)?.get()?);
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
