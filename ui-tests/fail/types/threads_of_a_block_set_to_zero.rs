//! Claim:   C9
//! Misuse:  tell the compiler that a block has no threads
//! In C:    the driver divides by the number, and the process dies of SIGFPE (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   E0308
//! Reads:   the option is a number that cannot be 0; no number is `None`
//! Fix:     `NonZeroU32::new(..)`, which gives `None`, the default, for 0

use scoped_cuda::JitOptions;

fn f(threads: u32) -> JitOptions {
    JitOptions {
        threads_per_block: Some(threads), // <-
        ..JitOptions::default()
    }
}

fn main() {}
