//! Twin of `fail/escape/streams_collected_in_an_outer_vec.rs`.

use scoped_cuda::{Driver, Result, Stream};

fn run(streams: &[Stream<'_>]) {
    println!("{streams:?}");
}

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |gpu| {
        let streams = [gpu.new_stream()?, gpu.new_stream()?];
        Ok(run(&streams))
    })
}
