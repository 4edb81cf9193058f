//! Claim:   C6
//! Misuse:  enqueue a copy of registered memory in a scope that goes on after the memory is unlocked
//! In C:    not measured
//! Real:    none known
//! rustc:   E0521
//! Reads:   `host` is borrowed for the closure only, and the scope waits later
//! Fix:     make the scope inside the closure

use scoped_cuda::{Buffer, Context, Result, Stream};

fn f<'gpu>(ctx: Context<'gpu>, stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![0.0; buffer.len()];
    stream.scope(|s| {
        ctx.with_registered(&mut host, |host| {
            s.read(buffer, host) // <-
        })
    })
}

fn main() {}
