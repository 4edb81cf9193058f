//! Twin of `fail/owned/host_memory_lent_to_work_that_does_not_own_it.rs`.

use scoped_cuda::{Buffer, Plain, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, f32>, host: &[f32]) -> Result<()> {
    let owned = (buffer, Plain(host.to_vec()));
    let work = stream.submit(owned, |s, (buffer, own)| {
        println!("{own:?}");
        s.write(&own.0, &mut buffer.lend(s))
    })?;
    work.wait()?;
    Ok(())
}
