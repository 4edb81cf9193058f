//! Claim:   C12
//! Misuse:  implement the crate's trait for device memory on a type of one's own
//! In C:    any integer can be passed as a device address
//! Real:    none known
//! rustc:   sealed trait
//! Reads:   an implementation would vouch for address and length, and the copies believe it; so only this crate has any
//! Fix:     keep a `Buffer` and give out views of it

use scoped_cuda::memory::Memory;
use scoped_cuda::{Buffer, Context};

struct Twice<'gpu>(Buffer<'gpu, f32>);

impl<'gpu> Memory<'gpu, f32> for Twice<'gpu> { // <-
    fn context(&self) -> Context<'gpu> {
        Memory::context(&self.0)
    }
    fn len(&self) -> usize {
        Memory::len(&self.0) * 2
    }
    fn as_raw(&self) -> u64 {
        Memory::as_raw(&self.0)
    }
}

fn main() {}
