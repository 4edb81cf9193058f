//! Claim:   C12
//! Misuse:  load machine code as if it were checked like text
//! In C:    the driver believes the headers: a cubin without its last sections crashed it (measured on an H200, CUDA 13.0)
//! Real:    none known
//! rustc:   E0133
//! Reads:   that an image is whole is checked; that a CUDA tool wrote what is in it, its owner has to promise
//! Fix:     `unsafe { .. }`, with the reason why the bytes are what a tool wrote; or load PTX

use scoped_cuda::{Context, Module, Result};

fn f<'gpu>(gpu: Context<'gpu>, cubin: &[u8]) -> Result<Module<'gpu>> {
    gpu.load_cubin(cubin) // <-
}

fn main() {}
