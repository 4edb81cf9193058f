//! Claim:   C12
//! Misuse:  launch a kernel that is declared `unsafe fn` as if the types had proved everything
//! In C:    every call is like that
//! Real:    none known
//! rustc:   E0133
//! Reads:   the arguments are compared with the PTX; what the kernel does with them, its author has to promise
//! Fix:     `unsafe { .. }`, with the reason; or `safe fn`, with what has to hold

use scoped_cuda::{LaunchConfig, Result, Stream, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern ptx!(".version 7.0 .target sm_75 .address_size 64 .entry nothing() { ret; }") {
        unsafe fn nothing();
    }
}

fn f<'gpu>(stream: &Stream<'gpu>, kernels: &Kernels<'gpu>) -> Result<()> {
    stream.scope(|s| {
        kernels.nothing(s, LaunchConfig::for_elements(1)) // <-
    })
}

fn main() {}
