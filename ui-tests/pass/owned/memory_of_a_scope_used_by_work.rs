//! Twin of `fail/owned/memory_of_a_scope_used_by_work.rs`.

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'g>(stream: &Stream<'g>, from: &mut Numbers<'g>, to: Numbers<'g>) -> Result<()> {
    stream.scope(|outer| {
        let lent = from.lend(outer);
        let work = stream.submit(to, |s, own| {
            let mut to = own.lend(s);
            s.fill(&mut to, 7)
        })?;
        println!("{lent:?}");
        work.wait()?;
        Ok(())
    })
}
