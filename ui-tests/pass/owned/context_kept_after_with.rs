//! Twin of `fail/owned/context_kept_after_with.rs`.

use scoped_cuda::{OwnedContext, Result};

fn f(gpu: &OwnedContext) -> Result<()> {
    let mut kept = 0;
    gpu.with(|ctx| {
        kept = ctx.memory_usage()?.used_bytes;
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
