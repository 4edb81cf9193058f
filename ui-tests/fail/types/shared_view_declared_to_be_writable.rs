//! Claim:   C12
//! Misuse:  declare that a shared view of a buffer, with elements of one's own type, may be written
//! In C:    a pointer to const is cast to one that is not
//! Real:    none known; Rust's orphan rule lets it pass where several traits share a seal
//! rustc:   `MemoryMut` is a "sealed trait"
//! Reads:   what may be written is this crate's to say, for every element type: others may be reading the same memory
//! Fix:     write through a `SliceMut`

use scoped_cuda::Slice;

struct Mine;

trait Described<'gpu, T> {}

impl<'gpu> scoped_cuda::memory::MemoryMut<'gpu, Mine> for Slice<'_, 'gpu, Mine> {} // <-

fn main() {}
