//! Twin of `fail/mix/contexts_of_with_two_devices_mixed.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_two_devices([0, 1], |gpu0, gpu1| {
        let far = gpu0.zeros::<f32>(4)?;
        let mut near = gpu1.zeros::<f32>(4)?; // <-
        gpu0.transfer_to(gpu1)?.copy(&far, &mut near)
    })
}
