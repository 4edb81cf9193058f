//! Claim:   C1, C8
//! Misuse:  keep memory that was reached after the context of its kernels has ended
//! In C:    the address is a number that nothing ties to the context for which it was made reachable
//! Real:    none known
//! rustc:   `gpu1` escapes the closure body here
//! Reads:   a view for kernels of `gpu1` ends with `gpu1`, even though the memory is of `gpu0`
//! Fix:     reach for it anew in each context

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, gpu0: Context<'_>) -> Result<()> {
    let far = gpu0.zeros::<f32>(4)?;
    let mut kept = None;
    driver.with_device(1, |gpu1| {
        let there = gpu0.transfer_to(gpu1)?.peer_slice(&far)?;
        kept = Some(there); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
