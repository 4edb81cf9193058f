//! Claim:   C6
//! Misuse:  read the result before anybody has waited for it
//! In C:    whatever was in the memory before, as soon as it is pinned
//! Real:    bheisler/RustaCUDA#8
//! rustc:   E0502
//! Reads:   the copy has `host` borrowed mutably until the end of the scope, `'1`; only then the result is there
//! Fix:     read after the scope

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<f32> {
    let mut host = vec![0.0; buffer.len()];
    stream.scope(|s| {
        s.read(buffer, &mut host)?;
        Ok(host[0]) // <-
    })
}

fn main() {}
