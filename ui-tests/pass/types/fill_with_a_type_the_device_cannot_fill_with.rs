//! Twin of `fail/types/fill_with_a_type_the_device_cannot_fill_with.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, counters: &mut Buffer<'gpu, u64>) -> Result<()> {
    let host = vec![7; counters.len()];
    stream.scope(|s| {
        let mut memory = counters.lend(s);
        s.write(&host, &mut memory)
    })
}
