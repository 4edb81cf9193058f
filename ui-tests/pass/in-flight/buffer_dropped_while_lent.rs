//! Twin of `fail/in-flight/buffer_dropped_while_lent.rs`.

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    let mut buffer = gpu.zeros::<f32>(4)?;
    stream.scope(|s| {
        s.fill(&mut buffer.lend(s), 1.0)?;
        Ok(())
    })?;
    drop(buffer);
    Ok(())
}
