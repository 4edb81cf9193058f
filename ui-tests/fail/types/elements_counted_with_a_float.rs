//! Claim:   C12
//! Misuse:  declare that a kernel counts elements with a float
//! In C:    the kernel takes the bits of the number for an integer
//! Real:    none known
//! rustc:   a kernel does not count elements with `f32`
//! Reads:   the first of three errors says it; the others are about the same list
//! Fix:     write the integer type that the kernel declares

use scoped_cuda::{WithLen, In, Kernel, Module, Result};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (WithLen<In<f32>, f32>,)>> { // <-
    module.kernel("sum")
}

fn main() {}
