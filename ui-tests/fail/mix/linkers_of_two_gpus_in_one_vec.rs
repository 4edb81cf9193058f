//! Claim:   C2
//! Misuse:  collect the linkers of two devices in one list
//! In C:    a linker compiles for the device of its context, and nothing tells which that was
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the elements of a list have one type, and so one context
//! Fix:     a list for each context; what they make, `LinkedImage`, can be in one

use scoped_cuda::{Context, JitOptions, Linker, Result};

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    let mut linkers: Vec<Linker<'gpu0>> = vec![gpu0.linker(&JitOptions::default())?];
    linkers.push(gpu1.linker(&JitOptions::default())?); // <-
    println!("{gpu1:?} {linkers:?}");
    Ok(())
}

fn main() {}
