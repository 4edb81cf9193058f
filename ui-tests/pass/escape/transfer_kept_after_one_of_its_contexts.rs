//! Twin of `fail/escape/transfer_kept_after_one_of_its_contexts.rs`.

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, gpu0: Context<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(1, |gpu1| {
        let transfer = gpu0.transfer_to(gpu1)?;
        kept = Some(transfer.is_direct());
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
