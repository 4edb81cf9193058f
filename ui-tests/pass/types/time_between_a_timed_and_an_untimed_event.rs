//! Twin of `fail/types/time_between_a_timed_and_an_untimed_event.rs`.

use scoped_cuda::{Context, Result, Stream};
use std::time::Duration;

fn f<'gpu>(ctx: Context<'gpu>, stream: &Stream<'gpu>) -> Result<Duration> {
    let (start, end) = (ctx.new_timed_event()?, ctx.new_timed_event()?);
    stream.scope(|s| {
        s.record(&start)?;
        s.record(&end)
    })?;
    end.elapsed_since(&start)
}
