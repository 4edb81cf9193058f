//! Twin of `fail/in-flight/buffer_filled_in_a_scope_without_being_lent.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| s.fill(&mut buffer.lend(s), 0.0))
}
