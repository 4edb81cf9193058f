//! Claim:   C12
//! Misuse:  launch a kernel as if the types had proved everything
//! In C:    every call is like that
//! Real:    none known
//! rustc:   E0133
//! Reads:   number, size and kind of the arguments are checked; what the kernel does with them, its author has to promise
//! Fix:     `unsafe { .. }`, with the reason why the kernel stays within its arguments

use scoped_cuda::{Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, kernel: &Kernel<'gpu, (u32,)>) -> Result<()> {
    stream.scope(|s| {
        s.launch(kernel, LaunchConfig::for_elements(1), (7,)) // <-
    })
}

fn main() {}
