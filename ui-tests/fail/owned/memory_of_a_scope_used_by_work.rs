//! Claim:   C5, C11
//! Misuse:  let work use memory that is in the order of a scope around it
//! In C:    the scope ends, the work goes on, and the memory is freed
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   the scope waits for its own streams, and work outlives it
//! Fix:     move the memory into the work, or enqueue in the scope

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'g>(stream: &Stream<'g>, from: &mut Numbers<'g>, to: Numbers<'g>) -> Result<()> {
    stream.scope(|outer| {
        let lent = from.lend(outer);
        let work = stream.submit(to, |s, own| {
            let mut to = own.lend(s);
            s.copy(&lent, &mut to) // <-
        })?;
        println!("{lent:?}");
        work.wait()?;
        Ok(())
    })
}

fn main() {}
