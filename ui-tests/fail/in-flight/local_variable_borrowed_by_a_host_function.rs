//! Claim:   C11
//! Misuse:  let a host function borrow a local variable
//! In C:    the function writes to a stack frame that has returned
//! Real:    NVlabs/cutile-rs#257
//! rustc:   is borrowed for `'static`
//! Reads:   what a host function captures is `'static`, because the driver calls it when it likes; the variable ends with `f`
//! Fix:     give it a clone of an `Arc`, or the sending end of a channel

use scoped_cuda::{Result, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn f(stream: &Stream<'_>) -> Result<u32> {
    let calls = Arc::new(AtomicU32::new(0));
    stream.scope(|s| {
        s.host(|| calls.store(1, Ordering::Relaxed)) // <-
    })?;
    Ok(calls.load(Ordering::Relaxed))
}

fn main() {}
