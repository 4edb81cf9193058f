//! Twin of `fail/mix/brand_made_shorter.rs`.

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;
    use scoped_cuda::*;

    fn context<'b, 'a: 'b>(it: Context<'a>) -> Context<'a> { it }
    fn stream<'b, 'a: 'b>(it: Stream<'a>) -> Stream<'a> { it }
    fn buffer<'b, 'a: 'b>(it: Buffer<'a, u8>) -> Buffer<'a, u8> { it }
    fn slice<'b, 'a: 'b>(it: Slice<'static, 'a, u8>) -> Slice<'static, 'a, u8> { it }
    fn slice_mut<'b, 'a: 'b>(it: SliceMut<'static, 'a, u8>) -> SliceMut<'static, 'a, u8> { it }
    fn module<'b, 'a: 'b>(it: Module<'a>) -> Module<'a> { it }
    fn kernel<'b, 'a: 'b>(it: Kernel<'a, ()>) -> Kernel<'a, ()> { it }
    fn source<'b, 'a: 'b>(it: Transfer<'a, 'static>) -> Transfer<'a, 'static> { it }
    fn destination<'b, 'a: 'b>(it: Transfer<'static, 'a>) -> Transfer<'static, 'a> { it }
    fn region<'b, 'a: 'b>(it: Scope<'a>) -> Scope<'a> { it }
    fn order<'b, 'a: 'b>(it: OnStream<'a, u8>) -> OnStream<'a, u8> { it }
    fn s<'b, 'a: 'b>(it: ScopedStream<'a, 'static, 'static>) -> ScopedStream<'a, 'static, 'static> { it }
    fn scope<'b, 'a: 'b>(it: ScopedStream<'static, 'a, 'static>) -> ScopedStream<'static, 'a, 'static> { it }
    fn gpu<'b, 'a: 'b>(it: ScopedStream<'static, 'b, 'a>) -> ScopedStream<'static, 'b, 'a> { it }
}
