//! Claim:   C5, C6
//! Misuse:  let the closure own the host memory that it copies from
//! In C:    the copy reads memory that was freed, or reused
//! Real:    none known
//! rustc:   argument requires that `host` is borrowed for `'1`
//! Reads:   `move` makes `host` a local variable of the closure, and the scope waits after the closure has ended
//! Fix:     no `move`; where some other variable needs it, let the closure capture `let host = &host;`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let host = vec![1.0; 4];
    stream.scope(move |s| {
        let mut memory = buffer.lend(s);
        s.write(&host, &mut memory) // <-
    })
}

fn main() {}
