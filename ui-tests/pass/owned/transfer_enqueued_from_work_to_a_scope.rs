//! Twin of `fail/owned/transfer_enqueued_from_work_to_a_scope.rs`.

use scoped_cuda::{Buffer, Result, Stream, Transfer};

type On<'gpu> = (Stream<'gpu>, Buffer<'gpu, u8>);

fn f<'a, 'b>(way: Transfer<'a, 'b>, (a, x): On<'a>, (b, mut y): On<'b>) -> Result<()> {
    b.scope(|on_b| {
        let mut y = y.lend(on_b);
        on_b.fill(&mut y, 1)?;
        let work = a.submit(x, |on_a, x| {
            println!("{way:?}, {on_b:?}");
            let x = x.lend(on_a);
            println!("{x:?}");
            Ok(())
        })?;
        println!("{y:?}");
        y.release(on_b)?.set_zero()?;
        work.wait()?;
        Ok(())
    })
}
