//! Twin of `fail/escape/scoped_stream_kept_in_an_outer_variable.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut kept = None;
    stream.scope(|s| {
        kept = Some(s.stream());
        s.fill(&mut buffer.lend(s), 1.0)
    })?;
    println!("{kept:?}");
    Ok(())
}
