//! Twin of `fail/in-flight/variable_read_at_rest_while_lent.rs`.

use scoped_cuda::{Global, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, counter: &mut Global<'gpu, u32>) -> Result<u32> {
    stream.scope(|s| {
        s.fill(&mut counter.as_mut_slice().lend(s), 1)?;
        Ok(())
    })?;
    counter.get()
}
