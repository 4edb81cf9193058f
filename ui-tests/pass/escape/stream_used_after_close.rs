//! Twin of `fail/escape/stream_used_after_close.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| s.fill(&mut buffer.lend(s), 0.0))?;
    Ok(stream.close()?)
}
