//! Twin of `fail/types/host_type_declared_to_be_device_memory.rs`.

use scoped_cuda::memory::Memory;
use scoped_cuda::{Buffer, Context};

struct Twice<'gpu>(Buffer<'gpu, f32>);

impl<'gpu> Twice<'gpu> {
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
