//! Twin of `fail/in-flight/pinned_memory_touched_while_a_kernel_works_on_it.rs`.

use scoped_cuda::{PinnedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, mut pinned: PinnedBuffer<'gpu, u32>) -> Result<()> {
    stream.scope(|s| {
        let mut on_device = pinned.lend(s);
        s.fill(&mut on_device, 7)?;
        Ok(())
    })?;
    println!("{}", pinned[0]);
    Ok(())
}
