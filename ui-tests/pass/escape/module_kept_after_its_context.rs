//! Twin of `fail/escape/module_kept_after_its_context.rs`.

use scoped_cuda::{Driver, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let module = gpu.load_ptx(ptx)?;
        kept = Some(module.log().to_owned());
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
