//! Twin of `fail/types/foreign_element_type_declared_to_be_in_a_buffer.rs`.

use scoped_cuda::{Buffer, Context};

struct Mine;

trait Described<'gpu, T> {
    fn context(&self) -> Context<'gpu>;
    fn len(&self) -> usize;
    fn as_raw(&self) -> u64;
}

impl<'gpu> Described<'gpu, Mine> for Buffer<'gpu, u8> {
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
