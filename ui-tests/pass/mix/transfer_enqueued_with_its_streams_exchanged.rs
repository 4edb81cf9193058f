//! Twin of `fail/mix/transfer_enqueued_with_its_streams_exchanged.rs`.

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream, Transfer};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    source: &OnStream<'a, Buffer<'gpu0, f32>>,
    destination: &mut OnStream<'b, Buffer<'gpu1, f32>>,
) -> Result<()> {
    transfer.enqueue(a, source, b, destination)
}
