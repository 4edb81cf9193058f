//! Claim:   C1, C8
//! Misuse:  keep the permission to copy between two devices after one of the contexts has ended
//! In C:    the peer copy is given a destroyed context
//! Real:    none known
//! rustc:   `gpu1` escapes the closure body here
//! Reads:   a `Transfer` borrows both contexts and ends with the shorter one, `gpu1`
//! Fix:     make it inside the inner closure; it is a pair of tokens and costs next to nothing

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, gpu0: Context<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(1, |gpu1| {
        let transfer = gpu0.transfer_to(gpu1)?;
        kept = Some(transfer); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
