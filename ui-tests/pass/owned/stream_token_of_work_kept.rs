//! Twin of `fail/owned/stream_token_of_work_kept.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let mut kept = None;
    let work = stream.submit(buffer, |s, _| {
        kept = Some(s.stream().is_idle()?);
        Ok(())
    })?;
    println!("{kept:?}, {work:?}");
    Ok(())
}
