//! Twin of `fail/owned/buffer_used_after_it_moved_into_work.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<Vec<u32>> {
    let work = stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 7))?;
    let buffer = work.wait()?;
    buffer.to_vec()
}
