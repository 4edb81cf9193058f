//! Claim:   C6
//! Misuse:  lend one buffer to two streams
//! In C:    two streams write the same memory, in any order
//! Real:    none known
//! rustc:   E0499
//! Reads:   `lend` borrows the buffer mutably until the end of the scope; rustc shows it as two closures that both capture it
//! Fix:     hand over with `take`; for two halves `split_at_mut`; to let several streams read, lend to none and pass `&buffer`

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    scope(|scope| {
        scope.on(&streams[0], |s| s.fill(&mut buffer.lend(s), 1.0))?;
        scope.on(&streams[1], |s| s.fill(&mut buffer.lend(s), 2.0)) // <-
    })
}

fn main() {}
