//! Twin of `fail/owned/memory_of_work_kept_outside.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let mut kept = None;
    let work = stream.submit(buffer, |s, own| {
        kept = Some(own.len());
        s.record(&s.context().new_event()?)
    })?;
    println!("{kept:?}, {work:?}");
    Ok(())
}
