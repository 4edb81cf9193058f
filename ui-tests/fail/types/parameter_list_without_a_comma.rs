//! Claim:   C12
//! Misuse:  write a list of one parameter as `(u32)`
//! In C:    there is no list
//! Real:    none known
//! rustc:   `u32` is not a kernel's parameter list
//! Reads:   a tuple of one element needs a comma. The warning's advice is wrong here, and so is the help at the end; follow the note
//! Fix:     `(u32,)`

use scoped_cuda::{Ptx, Context, Result};

fn f(gpu: Context<'_>, ptx: Ptx<'_>) -> Result<()> {
    let kernel = gpu.load_ptx(ptx)?.kernel::<(u32)>("spin")?; // <-
    println!("{kernel:?}");
    Ok(())
}

fn main() {}
