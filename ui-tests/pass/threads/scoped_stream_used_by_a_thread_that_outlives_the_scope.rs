//! Twin of `fail/threads/scoped_stream_used_by_a_thread_that_outlives_the_scope.rs`.

use scoped_cuda::{Result, Stream};
use std::thread;

fn f(stream: &Stream<'_>) -> Result<()> {
    stream.scope(|s| {
        thread::scope(|threads| {
            threads.spawn(move || s.zeros::<f32>(4).map(drop));
            Ok(())
        })
    })
}
