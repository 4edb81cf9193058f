//! Twin of `fail/in-flight/managed_memory_touched_by_the_host_while_lent.rs`.

use scoped_cuda::{ManagedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, mut managed: ManagedBuffer<'gpu, u32>) -> Result<()> {
    stream.scope(|s| {
        let mut on_device = managed.lend(s);
        s.fill(&mut on_device, 7)?;
        Ok(())
    })?;
    println!("{:?}", managed.as_slice()?);
    Ok(())
}
