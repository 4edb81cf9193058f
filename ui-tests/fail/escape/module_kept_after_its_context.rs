//! Claim:   C1
//! Misuse:  keep a module, to launch its kernels in a later context
//! In C:    the module is unloaded with its context; its handle says CUDA_ERROR_INVALID_HANDLE (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   a module is loaded in one context and ends with it
//! Fix:     keep what it is made from, the text or a `LinkedImage`, and load it in each context

use scoped_cuda::{Driver, Ptx, Result};

fn f(driver: Driver, ptx: Ptx<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let module = gpu.load_ptx(ptx)?;
        kept = Some(module); // <-
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
