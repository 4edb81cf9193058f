//! Twin of `fail/mix/time_between_events_of_two_gpus.rs`.

use scoped_cuda::{Result, TimedEvent};
use std::time::Duration;

fn f<'gpu0>(start: &TimedEvent<'gpu0>, end: &TimedEvent<'gpu0>) -> Result<Duration> {
    start.synchronize()?;
    end.synchronize()?;
    end.elapsed_since(start)
}
