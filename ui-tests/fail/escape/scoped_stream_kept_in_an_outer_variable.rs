//! Claim:   C5
//! Misuse:  keep the permission to enqueue beyond the scope that waits
//! In C:    nothing tells work that will be waited for from work that will not
//! Real:    none known
//! rustc:   `s` escapes the closure body here
//! Reads:   `s` is called a reference; it is the token of this one scope, and the wait comes when the closure has ended
//! Fix:     open another scope on the same stream

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut kept = None;
    stream.scope(|s| {
        kept = Some(s); // <-
        s.fill(&mut buffer.lend(s), 1.0)
    })?;
    println!("{kept:?}");
    Ok(())
}

fn main() {}
