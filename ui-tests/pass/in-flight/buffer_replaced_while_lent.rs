//! Twin of `fail/in-flight/buffer_replaced_while_lent.rs`.

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    let (mut front, mut back) = (gpu.zeros::<f32>(4)?, gpu.zeros::<f32>(4)?);
    stream.scope(|s| {
        s.fill(&mut front.lend(s), 1.0)?;
        Ok(())
    })?;
    std::mem::swap(&mut front, &mut back);
    Ok(())
}
