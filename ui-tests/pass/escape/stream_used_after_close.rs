//! Twin of `fail/escape/stream_used_after_close.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let filled = stream.scope(|s| s.fill(&mut buffer.lend(s), 0.0));
    stream.close().map_err(|(_, error)| error).and(filled)
}
