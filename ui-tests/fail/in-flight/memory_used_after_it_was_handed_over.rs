//! Claim:   C6
//! Misuse:  go on using memory on the first stream after the second one has taken it
//! In C:    the first stream does not wait for the second
//! Real:    none known
//! rustc:   E0382
//! Reads:   `take` takes the handle: memory is in the order of one stream at a time
//! Fix:     take it back, `taken.hand_over(b, a)?`

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    let mut taken = memory.hand_over(a, b)?;
    b.fill(&mut taken, 2.0)?;
    a.fill(&mut memory, 3.0) // <-
}

fn main() {}
