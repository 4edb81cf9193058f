//! Twin of `fail/mix/event_recorded_on_a_stream_of_another_gpu.rs`.

use scoped_cuda::{Event, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    of_gpu0: &Event<'gpu0>,
) -> Result<()> {
    on_gpu0.record(of_gpu0)?;
    on_gpu1.wait(of_gpu0)
}
