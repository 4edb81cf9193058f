//! Claim:   C1, C4
//! Misuse:  keep a scratch buffer in a thread-local variable
//! In C:    the thread's destructors free it after the context was reset or the driver unloaded
//! Real:    NVIDIA/cudf#16018
//! rustc:   argument requires that `'1` must outlive `'static`
//! Reads:   a thread-local variable holds `'static` values; the buffer lives as long as its context, `'1`
//! Fix:     keep it in a struct that lives inside the closure, `struct Scratch<'gpu> { buffer: Buffer<'gpu, u8> }`

use scoped_cuda::{Buffer, Driver, Result};
use std::cell::Cell;

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let scratch = gpu.zeros::<u8>(1 << 20)?;
        thread_local!(static SCRATCH: Cell<Option<Buffer<'static, u8>>> = const { Cell::new(None) });
        SCRATCH.set(Some(scratch)); // <-
        Ok(())
    })
}

fn main() {}
