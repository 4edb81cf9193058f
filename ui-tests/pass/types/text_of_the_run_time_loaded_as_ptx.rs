//! Twin of `fail/types/text_of_the_run_time_loaded_as_ptx.rs`.

use scoped_cuda::{Context, Module, Ptx, Result};

fn f<'gpu>(ctx: Context<'gpu>, text: &'static str) -> Result<Module<'gpu>> {
    // SAFETY: nvcc wrote it.
    let ptx: Ptx<'_> = unsafe { Ptx::from_compiler(text) };
    ctx.load_ptx(ptx)
}
