//! Claim:   C2
//! Misuse:  use memory of one scope in another, on what looks like the same device
//! In C:    the same address works on one device and is CUDA_ERROR_INVALID_VALUE, or a fault, on two; nothing in the program says which
//! Real:    none known
//! rustc:   `'a` and `'b` must be the same
//! Reads:   a scope is named by its call and not by its device
//! Fix:     `a.same_context(b)?.slice_of(memory)`, which asks the driver's handles

use scoped_cuda::{Buffer, Context, Result};

fn f<'a, 'b>(
    (a, b): (Context<'a>, Context<'b>),
    mut here: Buffer<'a, f32>,
    memory: &Buffer<'b, f32>,
) -> Result<()> {
    let same = a.same_context(b)?;
    println!("{same:?}");
    here.copy_from(memory) // <-
}

fn main() {}
