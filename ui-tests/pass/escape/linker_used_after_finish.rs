//! Twin of `fail/escape/linker_used_after_finish.rs`.

use scoped_cuda::{LinkedImage, Linker, Result};

fn f(mut linker: Linker<'_>, kernels: &str, helpers: &str) -> Result<LinkedImage> {
    linker.add_ptx("kernels.ptx", kernels)?;
    linker.add_ptx("helpers.ptx", helpers)?;
    let linked = linker.finish()?;
    Ok(linked)
}
