//! Claim:   C5, C8, C11
//! Misuse:  let work send to a stream of a scope that waits for itself alone
//! In C:    the receiver's scope ends while the copy is on its way
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   a transfer orders two streams of one scope; work and the scope around it are two
//! Fix:     enqueue it in a scope over both streams

use scoped_cuda::{Buffer, Result, Stream, Transfer};

type On<'gpu> = (Stream<'gpu>, Buffer<'gpu, u8>);

fn f<'a, 'b>(way: Transfer<'a, 'b>, (a, x): On<'a>, (b, mut y): On<'b>) -> Result<()> {
    b.scope(|on_b| {
        let mut y = y.lend(on_b);
        on_b.fill(&mut y, 1)?;
        let work = a.submit(x, |on_a, x| {
            println!("{way:?}, {on_b:?}");
            let x = x.lend(on_a);
            way.enqueue(on_a, &x, on_b, &mut y) // <-
        })?;
        println!("{y:?}");
        y.release(on_b)?.set_zero()?;
        work.wait()?;
        Ok(())
    })
}

fn main() {}
