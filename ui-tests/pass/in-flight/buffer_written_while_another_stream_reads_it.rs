//! Twin of `fail/in-flight/buffer_written_while_another_stream_reads_it.rs`.

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<[f32; 4]> {
    let mut host = [0.0; 4];
    scope(|scope| {
        scope.on(&streams[0], |s| s.read(&*buffer, &mut host))?;
        Ok(())
    })?;
    streams[1].scope(|s| s.fill(&mut buffer.lend(s), 1.0))?;
    Ok(host)
}
