//! Twin of `fail/escape/stream_kept_in_an_outer_variable.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |gpu| {
        let stream = gpu.new_stream()?;
        kept = Some(stream.context().device());
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
