//! Claim:   C12
//! Misuse:  declare that a buffer may be given away as the source of an asynchronous copy
//! In C:    the memory is freed while the copy reads it
//! Real:    none known; Rust's orphan rule lets it pass where several traits share a seal
//! rustc:   is not implemented for `Buffer<'gpu, Mine>`
//! Reads:   what a stream may read, and until when it stays, is this crate's to say, for every element type
//! Fix:     pass a reference that outlives the scope, `&buffer`

use scoped_cuda::Buffer;

struct Mine;

trait Described<'s, 'scope, 'gpu, T> {
    fn region(&self) -> (u64, usize);
}

impl<'s, 'scope, 'gpu> scoped_cuda::memory::Readable<'s, 'scope, 'gpu, Mine> for Buffer<'gpu, Mine> { // <-
    fn region(&self) -> (u64, usize) {
        (self.as_raw(), self.len())
    }
}

fn main() {}
