//! Claim:   C6
//! Misuse:  write memory on another stream than the one that it is in the order of
//! In C:    both streams write, in any order
//! Real:    none known
//! rustc:   `'a` and `'b` must be the same
//! Reads:   `'a` and `'b` are two streams; `memory` is in the order of `'a`
//! Fix:     `memory.hand_over(a, b)?`, which makes `b` wait for `a`

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu>(
    a: ScopedStream<'a, 'scope, 'gpu>,
    b: ScopedStream<'b, 'scope, 'gpu>,
    mut memory: OnStream<'a, Buffer<'gpu, f32>>,
) -> Result<()> {
    a.fill(&mut memory, 1.0)?;
    b.fill(&mut memory, 2.0) // <-
}

fn main() {}
