//! Claim:   C12
//! Misuse:  link an object file as if it were checked like text
//! In C:    the driver believes what an object file says of itself
//! Real:    none known
//! rustc:   E0133
//! Reads:   PTX is compiled; what an object file or an archive contains, its owner has to promise
//! Fix:     `unsafe { .. }`, with the reason why the bytes are what nvcc wrote; or add PTX

use scoped_cuda::{LinkedImage, Linker, Ptx, Result};

fn f(mut linker: Linker<'_>, kernels: Ptx<'_>, object: &[u8]) -> Result<LinkedImage> {
    linker.add_ptx("kernels.ptx", kernels)?;
    linker.add_object("library.o", object)?; // <-
    linker.finish()
}

fn main() {}
