//! Claim:   C1, C6
//! Misuse:  keep a linker, to finish it in a later context
//! In C:    the linker is of a context that is gone; what its handle does then is written nowhere
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   a linker is made in one context and ends with it; what it has made does not
//! Fix:     finish it inside the closure, and keep the `LinkedImage`

use scoped_cuda::{Driver, JitOptions, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let mut linker = gpu.linker(&JitOptions::default())?;
        linker.add_ptx("kernels.ptx", ptx)?;
        kept = Some(linker); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
