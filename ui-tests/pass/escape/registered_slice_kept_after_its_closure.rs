//! Twin of `fail/escape/registered_slice_kept_after_its_closure.rs`.

use scoped_cuda::{Context, Result};

fn f(ctx: Context<'_>, host: &mut [f32]) -> Result<()> {
    ctx.with_registered(host, |host| Ok(host.len()))?;
    host[0] = 1.0;
    Ok(())
}
