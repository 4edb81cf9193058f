//! Claim:   C5, C11
//! Misuse:  keep the permission to enqueue, to use it after the work was submitted
//! In C:    work is enqueued behind the event that tells when the first is done
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   the token is for what the closure enqueues: the end of that is what `wait` waits for
//! Fix:     enqueue everything in the closure, or submit more work

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let mut kept = None;
    let work = stream.submit(buffer, |s, _| {
        kept = Some(s); // <-
        Ok(())
    })?;
    println!("{kept:?}, {work:?}");
    Ok(())
}

fn main() {}
