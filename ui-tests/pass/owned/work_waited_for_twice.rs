//! Twin of `fail/owned/work_waited_for_twice.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let work = stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 7))?;
    let first = work.wait()?;
    let second = first.try_clone()?;
    println!("{first:?} {second:?}");
    Ok(())
}
