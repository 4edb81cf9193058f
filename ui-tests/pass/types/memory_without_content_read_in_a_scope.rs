//! Twin of `fail/types/memory_without_content_read_in_a_scope.rs`.

use scoped_cuda::{Result, Stream};

fn f(stream: &Stream<'_>, host: &[u32; 4], back: &mut [u32; 4]) -> Result<()> {
    stream.scope(|s| {
        let memory = s.write_init(host, s.uninit(host.len())?)?;
        s.read(&memory, back)
    })
}
