//! Claim:   C1
//! Misuse:  keep an event after its context has ended
//! In C:    the event is destroyed with its context: CUDA_ERROR_CONTEXT_IS_DESTROYED, or a later context answers for it
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   an event is part of its context, which ends with `with_device`
//! Fix:     ask it inside, and take the answer out

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |ctx| {
        kept = Some(ctx.new_event()?); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
