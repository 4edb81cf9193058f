//! Claim:   C12
//! Misuse:  a buffer of an enum
//! In C:    the device writes numbers that no variant has
//! Real:    none known
//! rustc:   `Cell` cannot be an element of device memory
//! Reads:   any bits that a kernel stores have to be a value; of an enum only those of its variants are
//! Fix:     the integer behind it, converted with a check after the download

use scoped_cuda::{Context, Result};

#[derive(Clone, Copy)]
#[repr(u32)]
enum Cell {
    Dead,
    Alive,
}

fn f(gpu: Context<'_>) -> Result<()> {
    let cells = gpu.upload(&[Cell::Dead, Cell::Alive])?; // <-
    println!("{cells:?}");
    Ok(())
}

fn main() {}
