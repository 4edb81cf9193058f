//! Claim:   C6
//! Misuse:  take what work owned a second time
//! In C:    two owners of one address
//! Real:    none known
//! rustc:   use of moved value: `work`
//! Reads:   `wait` takes the work, and gives what it owned, once
//! Fix:     keep what the first `wait` gave

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let work = stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 7))?;
    let first = work.wait()?;
    let second = work.wait()?; // <-
    println!("{first:?} {second:?}");
    Ok(())
}

fn main() {}
