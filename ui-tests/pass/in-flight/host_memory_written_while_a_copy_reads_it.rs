//! Twin of `fail/in-flight/host_memory_written_while_a_copy_reads_it.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![1.0; buffer.len()];
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&host, &mut memory)?;
        Ok(())
    })?;
    host[0] = 2.0;
    Ok(())
}
