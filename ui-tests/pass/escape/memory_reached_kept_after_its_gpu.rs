//! Twin of `fail/escape/memory_reached_kept_after_its_gpu.rs`.

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, gpu0: Context<'_>) -> Result<()> {
    let far = gpu0.zeros::<f32>(4)?;
    let mut kept = None;
    driver.with_device(1, |gpu1| {
        let there = gpu0.transfer_to(gpu1)?.peer_slice(&far)?;
        kept = Some(there.len());
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
