//! Claim:   C6
//! Misuse:  lend one graph to two streams
//! In C:    launches of one exec run one after the other, but copies of its memory do not
//! Real:    none known
//! rustc:   E0499
//! Reads:   `lend` borrows the graph mutably until the end of the scope
//! Fix:     `hand_over`

use scoped_cuda::{Buffer, Graph, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], graph: &mut Graph<'gpu, Buffer<'gpu, f32>>) -> Result<()> {
    scope(|scope| {
        scope.on(&streams[0], |s| graph.lend(s).launch(s))?;
        scope.on(&streams[1], |s| graph.lend(s).launch(s)) // <-
    })
}

fn main() {}
