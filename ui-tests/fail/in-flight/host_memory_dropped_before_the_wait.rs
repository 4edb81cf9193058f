//! Claim:   C5, C6
//! Misuse:  copy from host memory that ends inside the scope
//! In C:    the copy reads memory that was freed, or reused
//! Real:    NVlabs/cutile-rs#257
//! rustc:   argument requires that `host` is borrowed for `'1`
//! Reads:   the scope waits after the closure has ended, so `'1` is longer than anything declared inside
//! Fix:     declare it before the scope

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let host = vec![1.0; 4];
        let mut memory = buffer.lend(s);
        s.write(&host, &mut memory) // <-
    })
}

fn main() {}
