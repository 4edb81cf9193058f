//! Claim:   C12
//! Misuse:  declare a struct with a reference in it as a parameter that goes by value
//! In C:    the kernel follows a host address: CUDA_ERROR_ILLEGAL_ADDRESS
//! Real:    NVlabs/cuda-oxide#171
//! rustc:   `Scaling<'_>` cannot be a kernel parameter
//! Reads:   what goes by value is plain data, and a reference is none
//! Fix:     a struct of plain data that derives `Pod` (here an array); memory in a parameter of its own

use scoped_cuda::{InOut, Kernel, Module, Result};

#[derive(Clone, Copy)]
#[repr(C)]
struct Scaling<'a> {
    factors: &'a [f32; 2],
}

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (InOut<f32>, Scaling<'static>)>> {
    module.kernel("scale") // <-
}

fn main() {}
