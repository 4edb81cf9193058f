//! Twin of `fail/escape/event_of_a_context_that_ends_before_the_wait.rs`.

use scoped_cuda::{Driver, Result, Stream};

fn f(driver: Driver, stream: &Stream<'_>, other: u32) -> Result<()> {
    driver.with_device(other, |ctx| {
        stream.scope(|s| {
            let (event, theirs) = (ctx.new_event()?, ctx.new_stream()?);
            theirs.scope(|t| t.record(&event))?;
            s.wait(&event)
        })
    })
}
