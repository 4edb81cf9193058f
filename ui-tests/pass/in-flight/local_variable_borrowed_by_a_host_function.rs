//! Twin of `fail/in-flight/local_variable_borrowed_by_a_host_function.rs`.

use scoped_cuda::{Result, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn f(stream: &Stream<'_>) -> Result<u32> {
    let calls = Arc::new(AtomicU32::new(0));
    stream.scope(|s| {
        let calls = Arc::clone(&calls);
        s.host(move || calls.store(1, Ordering::Relaxed))
    })?;
    Ok(calls.load(Ordering::Relaxed))
}
