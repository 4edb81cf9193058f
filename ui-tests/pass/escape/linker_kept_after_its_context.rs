//! Twin of `fail/escape/linker_kept_after_its_context.rs`.

use scoped_cuda::{Driver, JitOptions, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let mut linker = gpu.linker(&JitOptions::default())?;
        linker.add_ptx("kernels.ptx", ptx)?;
        kept = Some(linker.finish()?);
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
