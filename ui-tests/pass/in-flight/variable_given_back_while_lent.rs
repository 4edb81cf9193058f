//! Twin of `fail/in-flight/variable_given_back_while_lent.rs`.

use scoped_cuda::{Module, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, module: &Module<'gpu>) -> Result<()> {
    let mut counter = module.global::<u32>("counter", 1)?;
    stream.scope(|s| {
        s.fill(&mut counter.as_mut_slice().lend(s), 1)?;
        Ok(())
    })?;
    drop(counter);
    Ok(())
}
