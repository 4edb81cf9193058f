//! Claim:   C6
//! Misuse:  use memory on another stream than the one that it is in the order of
//! In C:    the second stream reads while the first one writes: stale or mixed values
//! Real:    none known
//! rustc:   `b` escapes the closure body here
//! Reads:   between closures the two streams' brands have no names, and "`memory` is in the order of `a`" comes out as an escape of
//!          `b`; the line is right, the words are not
//! Fix:     `memory.hand_over(a, b)?`, which makes `b` wait for `a`

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<[f32; 4]> {
    let mut host = [0.0; 4];
    scope(|scope| {
        scope.on(&streams[0], |a| {
            let mut memory = buffer.lend(a);
            a.fill(&mut memory, 1.0)?;
            scope.on(&streams[1], |b| b.read(&memory, &mut host)) // <-
        })
    })?;
    Ok(host)
}

fn main() {}
