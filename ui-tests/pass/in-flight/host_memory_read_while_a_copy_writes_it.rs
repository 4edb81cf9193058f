//! Twin of `fail/in-flight/host_memory_read_while_a_copy_writes_it.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<f32> {
    let mut host = vec![0.0; buffer.len()];
    stream.scope(|s| {
        s.read(buffer, &mut host)?;
        Ok(())
    })?;
    Ok(host[0])
}
