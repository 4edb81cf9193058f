//! Twin of `fail/types/owned_memory_declared_to_be_readable.rs`.

use scoped_cuda::Buffer;

struct Mine;

trait Described<'s, 'scope, 'gpu, T> {
    fn region(&self) -> (u64, usize);
}

impl<'s, 'scope, 'gpu> Described<'s, 'scope, 'gpu, Mine> for Buffer<'gpu, Mine> {
    fn region(&self) -> (u64, usize) {
        (self.as_raw(), self.len())
    }
}
