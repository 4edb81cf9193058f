//! Claim:   C6
//! Misuse:  hand a borrowed part of the memory to another stream and keep the rest of the handle
//! In C:    both streams have the address, and one of them is not waited for
//! Real:    none known
//! rustc:   argument requires that `memory` is borrowed for `'scope`
//! Reads:   only what is borrowed until the end of the scope can change streams; `slice_mut` borrows the handle for a shorter time.
//!          The second error, `'a` and `'scope`, follows from the first
//! Fix:     divide the memory for good, `memory.split_at_mut(2)?`, and hand one part over

use scoped_cuda::{OnStream, Result, ScopedStream, SliceMut};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, SliceMut<'scope, 'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    let part = memory.slice_mut(..2)?; // <-
    b.fill(&mut part.hand_over(a, b)?, 2.0)
}

fn main() {}
