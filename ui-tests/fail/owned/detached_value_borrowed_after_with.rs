//! Claim:   C1
//! Misuse:  keep a reference to a detached buffer after its context was left
//! In C:    an address is used while another thread resets its context
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   `get` gives a reference to a buffer of this entry, which ends with the closure
//! Fix:     keep the `Detached`, and enter again

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, weights: &Detached<Buffer<'static, f32>>) -> Result<()> {
    let mut kept = None;
    gpu.with(|ctx| {
        kept = Some(weights.get(ctx)?); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
