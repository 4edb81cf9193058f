//! Twin of `fail/in-flight/host_memory_of_an_inner_scope_given_to_an_outer_stream.rs`.

use scoped_cuda::{Result, Stream};

fn f(outer: &Stream<'_>, inner: &Stream<'_>) -> Result<()> {
    outer.scope(|a| {
        let host = vec![1.0f32; 4];
        inner.scope(|b| {
            println!("{a:?} {b:?}");
            b.write(&host, &mut b.zeros(4)?)
        })
    })
}
