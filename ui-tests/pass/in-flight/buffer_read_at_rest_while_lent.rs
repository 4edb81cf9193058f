//! Twin of `fail/in-flight/buffer_read_at_rest_while_lent.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<Vec<f32>> {
    stream.scope(|s| {
        s.fill(&mut buffer.lend(s), 1.0)?;
        Ok(())
    })?;
    buffer.to_vec()
}
