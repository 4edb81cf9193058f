//! Twin of `fail/in-flight/host_memory_dropped_before_the_wait.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let host = vec![1.0; 4];
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&host, &mut memory)
    })
}
