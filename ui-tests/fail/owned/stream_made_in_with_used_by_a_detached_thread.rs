//! Claim:   C1
//! Misuse:  hand a stream of an entry to a thread that nobody joins
//! In C:    the thread uses a stream of a context that may be gone
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   `thread::spawn` asks for `'static`; the stream's lifetime is that of the entry
//! Fix:     let the thread enter the context itself, through a clone of the owner

use scoped_cuda::{OwnedContext, Result};
use std::thread;

fn f(gpu: &OwnedContext) -> Result<()> {
    let owner = gpu.clone();
    gpu.with(|ctx| {
        let stream = ctx.new_stream()?;
        println!("{stream:?}, {owner:?}");
        thread::spawn(move || stream.is_idle()); // <-
        Ok(())
    })
}

fn main() {}
