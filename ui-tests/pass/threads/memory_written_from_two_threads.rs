//! Twin of `fail/threads/memory_written_from_two_threads.rs`.

use scoped_cuda::{Buffer, Result, Stream};
use std::thread;

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let (mut head, mut tail) = buffer.lend(s).split_at_mut(2)?;
        thread::scope(|threads| {
            threads.spawn(|| s.fill(&mut head, 1.0));
            threads.spawn(|| s.fill(&mut tail, 2.0));
            Ok(())
        })
    })
}
