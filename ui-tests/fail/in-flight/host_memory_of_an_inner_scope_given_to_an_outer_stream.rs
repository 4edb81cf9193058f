//! Claim:   C5, C6
//! Misuse:  copy from memory that outlives the inner scope, on the stream of the outer one
//! In C:    nothing says which wait a copy belongs to
//! Real:    none known
//! rustc:   argument requires that `host` is borrowed for `'1`
//! Reads:   work enqueued on `a` is waited for where `a` came from; what it borrows has to last until then
//! Fix:     enqueue on the stream of the scope that `host` outlives

use scoped_cuda::{Result, Stream};

fn f(outer: &Stream<'_>, inner: &Stream<'_>) -> Result<()> {
    outer.scope(|a| {
        let host = vec![1.0f32; 4];
        inner.scope(|b| {
            println!("{a:?} {b:?}");
            a.write(&host, &mut a.zeros(4)?) // <-
        })
    })
}

fn main() {}
