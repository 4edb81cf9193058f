//! Twin of `fail/owned/stream_made_in_with_used_by_a_detached_thread.rs`.

use scoped_cuda::{OwnedContext, Result};
use std::thread;

fn f(gpu: &OwnedContext) -> Result<()> {
    let owner = gpu.clone();
    gpu.with(|ctx| {
        let stream = ctx.new_stream()?;
        println!("{stream:?}, {owner:?}");
        thread::spawn(move || owner.with(|ctx| ctx.new_stream()?.is_idle()));
        Ok(())
    })
}
