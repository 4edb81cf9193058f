//! Twin of `fail/types/cubin_loaded_without_unsafe.rs`.

use scoped_cuda::{Context, Module, Result};

fn f<'gpu>(gpu: Context<'gpu>, cubin: &[u8]) -> Result<Module<'gpu>> {
    // SAFETY: the build script's ptxas wrote it.
    unsafe { gpu.load_cubin(cubin) }
}
