//! Claim:   C1, C5
//! Misuse:  make a stream wait for an event of a context that ends while the scope goes on
//! In C:    the stream waits for something in a context that is destroyed
//! Real:    none known
//! rustc:   `ctx` escapes the closure body here
//! Reads:   whether the stream has come to the wait is certain only when the scope ends, and until then the event's context has to
//!          be there: it must outlive `'scope`
//! Fix:     enter both contexts before the scope

use scoped_cuda::{Driver, Result, Stream};

fn f(driver: Driver, stream: &Stream<'_>, other: u32) -> Result<()> {
    stream.scope(|s| {
        driver.with_device(other, |ctx| {
            let (event, theirs) = (ctx.new_event()?, ctx.new_stream()?);
            theirs.scope(|t| t.record(&event))?;
            s.wait(&event) // <-
        })
    })
}

fn main() {}
