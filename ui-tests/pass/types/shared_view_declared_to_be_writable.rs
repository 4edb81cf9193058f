//! Twin of `fail/types/shared_view_declared_to_be_writable.rs`.

use scoped_cuda::Slice;

struct Mine;

trait Described<'gpu, T> {}

impl<'gpu> Described<'gpu, Mine> for Slice<'_, 'gpu, Mine> {}
