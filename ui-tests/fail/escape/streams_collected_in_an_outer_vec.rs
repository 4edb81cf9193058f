//! Claim:   C1
//! Misuse:  open each device in a loop and collect the streams for later
//! In C:    each round releases its context, so that the collected handles are dead; using one is a crash or an error
//! Real:    none known
//! rustc:   `gpu` escapes the closure body here
//! Reads:   the streams would have to outlive the contexts of all rounds
//! Fix:     collect inside the closure; for several devices nest the calls, or give each device a thread

use scoped_cuda::{Driver, Result, Stream};

fn run(streams: &[Stream<'_>]) {
    println!("{streams:?}");
}

fn f(driver: Driver) -> Result<()> {
    let mut streams = Vec::new();
    for ordinal in 0..driver.device_count()? {
        driver.with_device(ordinal, |gpu| Ok(streams.push(gpu.new_stream()?)))?; // <-
    }
    run(&streams);
    Ok(())
}

fn main() {}
