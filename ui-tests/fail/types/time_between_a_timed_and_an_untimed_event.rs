//! Claim:   C12
//! Misuse:  ask for the time since an event that takes no time
//! In C:    CUDA_ERROR_INVALID_HANDLE, when the program is measured at last
//! Real:    none known
//! rustc:   expected `&TimedEvent
//! Reads:   an `Event` takes no time; whether one does is in its type
//! Fix:     make both with `timed_event`

use scoped_cuda::{Context, Result, Stream};
use std::time::Duration;

fn f<'gpu>(ctx: Context<'gpu>, stream: &Stream<'gpu>) -> Result<Duration> {
    let (start, end) = (ctx.new_event()?, ctx.new_timed_event()?);
    stream.scope(|s| {
        s.record(&start)?;
        s.record(&end)
    })?;
    end.elapsed_since(&start) // <-
}

fn main() {}
