//! Claim:   C1
//! Misuse:  put a stream into a variable that outlives its context
//! In C:    a stream handle stays a number; synchronising it after the context's last release crashed in about half of the
//!          runs and said CUDA_ERROR_CONTEXT_IS_DESTROYED in the others (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   everything made from `gpu` carries its lifetime, so keeping the stream counts as keeping `gpu`; what is said about
//!          variance only explains why the lifetime cannot be stretched
//! Fix:     declare the variable inside the closure, or keep something that carries no context, such as the `Device`

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        kept = Some(stream); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
