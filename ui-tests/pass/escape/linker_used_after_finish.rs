//! Twin of `fail/escape/linker_used_after_finish.rs`.

use scoped_cuda::{LinkedImage, Linker, Ptx, Result};

fn f(mut linker: Linker<'_>, kernels: Ptx<'_>, helpers: Ptx<'_>) -> Result<LinkedImage> {
    linker.add_ptx("kernels.ptx", kernels)?;
    linker.add_ptx("helpers.ptx", helpers)?;
    let linked = linker.finish()?;
    Ok(linked)
}
