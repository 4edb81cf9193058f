//! Claim:   C6
//! Misuse:  add an input to a linker that has finished
//! In C:    CUDA_ERROR_INVALID_VALUE (measured on an H200, CUDA 13.0); after cuLinkDestroy the handle dangles
//! Real:    none known
//! rustc:   E0382
//! Reads:   `finish` takes the linker: what it made is in memory of its own, and the linker is destroyed
//! Fix:     add everything first; for more, begin with a new linker

use scoped_cuda::{LinkedImage, Linker, Ptx, Result};

fn f(mut linker: Linker<'_>, kernels: Ptx<'_>, helpers: Ptx<'_>) -> Result<LinkedImage> {
    linker.add_ptx("kernels.ptx", kernels)?;
    let linked = linker.finish()?;
    linker.add_ptx("helpers.ptx", helpers)?; // <-
    Ok(linked)
}

fn main() {}
