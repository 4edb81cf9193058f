//! Claim:   C12
//! Misuse:  read a buffer of floats into a vector of integers
//! In C:    bytes are bytes
//! Real:    none known
//! rustc:   expected `&mut [f32]`, found `&mut Vec<u32>`
//! Reads:   both sides of a copy have one element type, and it is the buffer's
//! Fix:     a vector of the buffer's type; to reinterpret its bits, `bytemuck::cast_slice` on the host

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![0u32; buffer.len()];
    stream.scope(|s| s.read(buffer, &mut host)) // <-
}

fn main() {}
