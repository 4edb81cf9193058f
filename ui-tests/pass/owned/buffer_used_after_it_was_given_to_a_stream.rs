//! Twin of `fail/owned/buffer_used_after_it_was_given_to_a_stream.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, mut buffer: Buffer<'gpu, u32>) -> Result<Vec<u32>> {
    stream.scope(|s| s.fill(&mut buffer.lend(s), 7))?;
    buffer.to_vec()
}
