//! Twin of `fail/escape/buffer_freed_by_a_host_function.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| s.host(move || println!("done")))?;
    drop(buffer);
    Ok(())
}
