//! Claim:   C2
//! Misuse:  submit memory of one GPU on a stream of another one
//! In C:    the launch reads through an address of the wrong device
//! Real:    none known
//! rustc:   lifetime may not live long enough
//! Reads:   work owns what is of the context of its stream, and nothing else
//! Fix:     submit it on a stream of its own context

use scoped_cuda::{Buffer, Result, Stream};

type Numbers<'gpu> = Buffer<'gpu, u32>;

fn f<'gpu0, 'gpu1>(stream: &Stream<'gpu0>, a: Numbers<'gpu0>, b: Numbers<'gpu1>) -> Result<()> {
    println!("{a:?}, {b:?}");
    let work = stream.submit(b, |_, _| Ok(()))?; // <-
    work.wait()?;
    Ok(())
}

fn main() {}
