//! Twin of `fail/escape/module_kept_after_its_context.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver, ptx: &str) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let module = gpu.load_ptx(ptx)?;
        kept = Some(module.log().to_owned());
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
