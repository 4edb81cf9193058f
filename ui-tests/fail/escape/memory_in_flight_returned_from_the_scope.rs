//! Claim:   C5, C6
//! Misuse:  take memory out of a scope as if work were still pending on it
//! In C:    the handle says nothing of the stream that may still write the memory
//! Real:    none known
//! rustc:   returning this value requires that `'1` must outlive `'2`
//! Reads:   `'1` is the brand of the stream inside this scope; an `OnStream` is a place in that stream's order and ends with it
//! Fix:     leave the scope and use the buffer itself, which is at rest then

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let filled = stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.fill(&mut memory, 1.0)?;
        Ok(memory) // <-
    })?;
    println!("{filled:?}");
    Ok(())
}

fn main() {}
