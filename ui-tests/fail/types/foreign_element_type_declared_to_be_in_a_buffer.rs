//! Claim:   C12
//! Misuse:  declare that a buffer of one element type is device memory of another, one's own
//! In C:    an address is an address; nobody is asked what is there
//! Real:    none known; Rust's orphan rule lets it pass where a sealed trait forgets its parameter
//! rustc:   is not implemented for `Buffer<'gpu, u8>`
//! Reads:   address and length of device memory are this crate's to vouch for, for every element type
//! Fix:     a trait of one's own says what else a buffer is; bytes become elements on the host, with `bytemuck::cast_slice`

use scoped_cuda::{Buffer, Context};

struct Mine;

trait Described<'gpu, T> {
    fn context(&self) -> Context<'gpu>;
    fn len(&self) -> usize;
    fn as_raw(&self) -> u64;
}

impl<'gpu> scoped_cuda::memory::Memory<'gpu, Mine> for Buffer<'gpu, u8> { // <-
    fn context(&self) -> Context<'gpu> {
        Buffer::context(self)
    }
    fn len(&self) -> usize {
        1_000_000
    }
    fn as_raw(&self) -> u64 {
        0x1000
    }
}

fn main() {}
