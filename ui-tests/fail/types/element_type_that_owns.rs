//! Claim:   C12
//! Misuse:  keep values that own host memory on the device
//! In C:    a struct with a pointer is copied bit by bit, and its destructor frees what it never owned
//! Real:    NVlabs/cuda-oxide#19
//! rustc:   `String` cannot be an element of device memory
//! Reads:   bits that a kernel stores do not own anything on the host
//! Fix:     plain data, such as `[u8; 16]`

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let names = gpu.zeros::<String>(4)?; // <-
    println!("{names:?}");
    Ok(())
}

fn main() {}
