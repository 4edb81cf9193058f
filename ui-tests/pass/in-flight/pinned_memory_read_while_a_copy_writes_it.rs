//! Twin of `fail/in-flight/pinned_memory_read_while_a_copy_writes_it.rs`.

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    buffer: &Buffer<'gpu, f32>,
    mut pinned: PinnedBuffer<'gpu, f32>,
) -> Result<f32> {
    let mut first = 0.0;
    stream.scope(|s| {
        s.read(buffer, &mut pinned)?;
        Ok(())
    })?;
    first += pinned[0];
    Ok(first)
}
