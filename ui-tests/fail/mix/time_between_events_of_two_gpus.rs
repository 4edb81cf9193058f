//! Claim:   C2
//! Misuse:  ask for the time between events of two devices
//! In C:    CUDA_ERROR_INVALID_HANDLE: two devices have two clocks
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   `elapsed_since` takes a timed event of the same context
//! Fix:     record both events on one device; across devices take the time on the host

use scoped_cuda::{Result, TimedEvent};
use std::time::Duration;

fn f<'gpu0, 'gpu1>(start: &TimedEvent<'gpu0>, end: &TimedEvent<'gpu1>) -> Result<Duration> {
    start.synchronize()?;
    end.synchronize()?;
    end.elapsed_since(start) // <-
}

fn main() {}
