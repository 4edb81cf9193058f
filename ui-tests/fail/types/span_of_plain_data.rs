//! Claim:   C12
//! Misuse:  declare a pair of pointer and length around a value
//! In C:    the kernel follows the bits of a number
//! Real:    none known
//! rustc:   `f32` is not a pointer parameter
//! Reads:   `PtrLen` is of memory; the first of three errors says it, the others are about the same list
//! Fix:     `PtrLen<In<f32>>`

use scoped_cuda::{In, Kernel, Module, Result, PtrLen};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (PtrLen<f32>, In<f32>)>> { // <-
    module.kernel("sum")
}

fn main() {}
