//! Twin of `fail/mix/memory_copied_between_gpus_in_closures.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu0| {
        let source = gpu0.upload(&[1.0f32, 2.0])?;
        driver.with_device(1, |gpu1| {
            let mut destination = gpu1.zeros::<f32>(2)?;
            gpu0.transfer_to(gpu1)?.copy(&source, &mut destination)
        })
    })
}
