//! Claim:   C12
//! Misuse:  a buffer of bool
//! In C:    the device writes bytes, and a Rust bool that is neither 0 nor 1 is undefined behaviour
//! Real:    none known
//! rustc:   `bool` cannot be an element of device memory
//! Reads:   any bits that a kernel stores have to be a value; of a bool only two are
//! Fix:     `u8`, and compare with 0 after the download

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let flags = gpu.upload(&[true, false])?; // <-
    println!("{flags:?}");
    Ok(())
}

fn main() {}
