//! Twin of `fail/escape/owned_copy_kept_after_its_context.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = Vec::new();
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        let copy = stream.upload_owned(gpu.pinned_zeros::<u8>(9)?, gpu.zeros(9)?)?;
        kept.extend_from_slice(&copy.wait()?.0);
        Ok(())
    })
}
