//! Twin of `fail/mix/event_brand_made_shorter.rs`.

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;
    use scoped_cuda::*;

    fn event<'b, 'a: 'b>(it: Event<'a>) -> Event<'a> { it }
    fn timed<'b, 'a: 'b>(it: TimedEvent<'a>) -> TimedEvent<'a> { it }
    fn chunks<'b, 'a: 'b>(it: ChunksMut<'static, 'a, u8>) -> ChunksMut<'static, 'a, u8> { it }
}
