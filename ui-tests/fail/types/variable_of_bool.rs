//! Claim:   C12
//! Misuse:  read a variable of a module as a bool
//! In C:    a kernel stores what it likes, and a Rust bool that is neither 0 nor 1 is undefined behaviour
//! Real:    none known
//! rustc:   `bool` cannot be an element of device memory
//! Reads:   any bits that a kernel stores have to be a value; of a bool only two are
//! Fix:     `u8`, and compare with 0

use scoped_cuda::{Module, Result};

fn f(module: &Module<'_>) -> Result<()> {
    let is_done = module.global::<bool>("is_done", 1)?; // <-
    println!("{is_done:?}");
    Ok(())
}

fn main() {}
