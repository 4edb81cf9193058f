//! Claim:   C5
//! Misuse:  enqueue from a thread that may still run when the scope waits
//! In C:    work is enqueued after the wait, on memory that is no longer lent
//! Real:    none known
//! rustc:   `s` escapes the closure body here
//! Reads:   the threads are joined at the end of `thread::scope`, which here comes after the scope's wait
//! Fix:     `thread::scope` inside the stream's scope

use scoped_cuda::{Result, Stream};
use std::thread;

fn f(stream: &Stream<'_>) -> Result<()> {
    thread::scope(|threads| {
        stream.scope(|s| {
            threads.spawn(move || s.zeros::<f32>(4).map(drop)); // <-
            Ok(())
        })
    })
}

fn main() {}
