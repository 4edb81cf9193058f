//! Claim:   C1, C2
//! Misuse:  treat the context of an event as a lifetime that may be shortened
//! In C:    a handle has no lifetime
//! Real:    none known
//! rustc:   is invariant over the parameter `'ctx`
//! Reads:   were any of these accepted, events of two contexts could be shortened to one common lifetime, and then mixed
//! Fix:     nothing to fix: write one lifetime where one context is meant

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;
    use scoped_cuda::*;

    fn event<'b, 'a: 'b>(it: Event<'a>) -> Event<'b> { it } // <-
    fn timed<'b, 'a: 'b>(it: TimedEvent<'a>) -> TimedEvent<'b> { it } // <-
    fn chunks<'b, 'a: 'b>(it: ChunksMut<'static, 'a, u8>) -> ChunksMut<'static, 'b, u8> { it } // <-
}

fn main() {}
