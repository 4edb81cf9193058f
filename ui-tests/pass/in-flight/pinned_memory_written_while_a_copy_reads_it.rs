//! Twin of `fail/in-flight/pinned_memory_written_while_a_copy_reads_it.rs`.

use scoped_cuda::{Buffer, PinnedBuffer, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    buffer: &mut Buffer<'gpu, f32>,
    mut pinned: PinnedBuffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&pinned, &mut memory)?;
        Ok(())
    })?;
    pinned[0] = 2.0;
    Ok(())
}
