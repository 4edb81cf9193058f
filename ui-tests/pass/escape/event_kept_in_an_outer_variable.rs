//! Twin of `fail/escape/event_kept_in_an_outer_variable.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |ctx| {
        kept = Some(format!("{:?}", ctx.new_event()?));
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
