//! Twin of `fail/owned/work_given_memory_of_another_gpu.rs`.

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'gpu0, 'gpu1>(stream: &Stream<'gpu0>, a: Numbers<'gpu0>, b: Numbers<'gpu1>) -> Result<()> {
    println!("{a:?}, {b:?}");
    let work = stream.submit(a, |_, _| Ok(()))?;
    work.wait()?;
    Ok(())
}
