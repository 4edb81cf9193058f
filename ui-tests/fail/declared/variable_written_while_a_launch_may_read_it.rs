//! Claim:   C5, C12
//! Misuse:  write a variable while a kernel that is declared beside it may run
//! In C:    the kernel reads the old value, the new one, or some of both
//! Real:    none known
//! rustc:   E0502
//! Reads:   a launch borrows the kernels and their variables until the scope has waited
//! Fix:     write it before the scope, or after it

use scoped_cuda::{LaunchConfig, Result, Stream, kernels};

kernels! {
    struct Kernels<'ctx>;
    // SAFETY: the kernel reads `table` only.
    unsafe extern ptx!(".version 7.0 .target sm_75 .address_size 64 .const .f32 table; .entry k() { ret; }") {
        safe fn k() when {};
        static table: f32;
    }
}

fn f<'gpu>(stream: &Stream<'gpu>, kernels: &mut Kernels<'gpu>) -> Result<()> {
    stream.scope(|s| {
        kernels.k(s, LaunchConfig::for_elements(1))?;
        kernels.variables_mut().table.set(2.0) // <-
    })
}

fn main() {}
