//! Twin of `fail/types/object_linked_without_unsafe.rs`.

use scoped_cuda::{LinkedImage, Linker, Ptx, Result};

fn f(mut linker: Linker<'_>, kernels: Ptx<'_>, object: &[u8]) -> Result<LinkedImage> {
    linker.add_ptx("kernels.ptx", kernels)?;
    // SAFETY: the build script's nvcc wrote it.
    unsafe { linker.add_object("library.o", object) }?;
    linker.finish()
}
