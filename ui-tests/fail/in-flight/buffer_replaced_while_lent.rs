//! Claim:   C6
//! Misuse:  swap two buffers while one of them is in flight
//! In C:    the handles change places and the pending work goes on with the addresses it was given
//! Real:    none known
//! rustc:   E0499
//! Reads:   swapping borrows both buffers mutably, and one is lent until the end of the scope, `'1`
//! Fix:     swap after the scope; inside it, swap the two handles that `lend` gave

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    let (mut front, mut back) = (gpu.zeros::<f32>(4)?, gpu.zeros::<f32>(4)?);
    stream.scope(|s| {
        s.fill(&mut front.lend(s), 1.0)?;
        std::mem::swap(&mut front, &mut back); // <-
        Ok(())
    })
}

fn main() {}
