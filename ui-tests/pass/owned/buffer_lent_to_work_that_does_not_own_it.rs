//! Twin of `fail/owned/buffer_lent_to_work_that_does_not_own_it.rs`.

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'g>(stream: &Stream<'g>, other: &mut Numbers<'g>, own: Numbers<'g>) -> Result<()> {
    println!("{other:?}");
    let work = stream.submit(own, |s, own| {
        println!("{own:?}");
        s.fill(&mut own.lend(s), 7)
    })?;
    work.wait()?;
    Ok(())
}
