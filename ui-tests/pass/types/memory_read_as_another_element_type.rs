//! Twin of `fail/types/memory_read_as_another_element_type.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![0f32; buffer.len()];
    stream.scope(|s| s.read(buffer, &mut host))
}
