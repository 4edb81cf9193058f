//! Twin of `fail/in-flight/host_rows_written_while_a_copy_reads_them.rs`.

use scoped_cuda::{Extent, HostRows, PitchedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, image: &mut PitchedBuffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![1.0; 8];
    stream.scope(|s| {
        let mut image = image.lend(s);
        s.write_rows(HostRows::strided(&host, Extent::new(3, 2), 4)?, &mut image)?;
        Ok(())
    })?;
    host[3] = 2.0;
    Ok(())
}
