//! Twin of `fail/in-flight/registered_memory_lent_to_a_scope_around_its_closure.rs`.

use scoped_cuda::{Buffer, Context, Result, Stream};

fn f<'gpu>(ctx: Context<'gpu>, stream: &Stream<'gpu>, buffer: &Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![0.0; buffer.len()];
    ctx.with_registered(&mut host, |host| stream.scope(|s| s.read(buffer, host)))
}
