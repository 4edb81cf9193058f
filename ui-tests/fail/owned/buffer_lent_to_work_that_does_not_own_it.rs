//! Claim:   C11, C6
//! Misuse:  let work in flight fill a buffer of the function that enqueues it
//! In C:    the buffer is freed, or read, while the device fills it
//! Real:    none known
//! rustc:   explicit lifetime required in the type of `other`
//! Reads:   nothing waits before the function goes on; the bound that the help proposes, no caller can meet
//! Fix:     move the buffer into the work, and get it back from `wait`

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'g>(stream: &Stream<'g>, other: &mut Numbers<'g>, own: Numbers<'g>) -> Result<()> {
    println!("{other:?}");
    let work = stream.submit(own, |s, own| {
        println!("{own:?}");
        s.fill(&mut other.lend(s), 7) // <-
    })?;
    work.wait()?;
    Ok(())
}

fn main() {}
