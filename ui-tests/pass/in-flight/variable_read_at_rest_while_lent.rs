//! Twin of `fail/in-flight/variable_read_at_rest_while_lent.rs`.

use scoped_cuda::{Global, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, counter: &mut Global<'gpu, u32>) -> Result<u32> {
    stream.scope(|s| {
        s.fill(&mut s.lend_view(counter.view_mut()), 1)?;
        Ok(())
    })?;
    counter.get()
}
