//! Claim:   C1, C2
//! Misuse:  treat a context's lifetime as one that may be shortened, as a reference's may
//! In C:    a handle has no lifetime
//! Real:    none known
//! rustc:   is invariant over the parameter `'ctx`
//! Reads:   were any of these accepted, two contexts could be shortened to one common lifetime, and then mixed
//! Fix:     nothing to fix: write one lifetime where one context is meant

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;
    use scoped_cuda::*;

    fn context<'b, 'a: 'b>(it: Context<'a>) -> Context<'b> { it } // <-
    fn stream<'b, 'a: 'b>(it: Stream<'a>) -> Stream<'b> { it } // <-
    fn buffer<'b, 'a: 'b>(it: Buffer<'a, u8>) -> Buffer<'b, u8> { it } // <-
    fn slice<'b, 'a: 'b>(it: Slice<'static, 'a, u8>) -> Slice<'static, 'b, u8> { it } // <-
    fn slice_mut<'b, 'a: 'b>(it: SliceMut<'static, 'a, u8>) -> SliceMut<'static, 'b, u8> { it } // <-
    fn module<'b, 'a: 'b>(it: Module<'a>) -> Module<'b> { it } // <-
    fn kernel<'b, 'a: 'b>(it: Kernel<'a, ()>) -> Kernel<'b, ()> { it } // <-
    fn source<'b, 'a: 'b>(it: Transfer<'a, 'static>) -> Transfer<'b, 'static> { it } // <-
    fn destination<'b, 'a: 'b>(it: Transfer<'static, 'a>) -> Transfer<'static, 'b> { it } // <-
    fn region<'b, 'a: 'b>(it: Scope<'a>) -> Scope<'b> { it } // <-
    fn order<'b, 'a: 'b>(it: OnStream<'a, u8>) -> OnStream<'b, u8> { it } // <-
    fn s<'b, 'a: 'b>(it: ScopedStream<'a, 'static, 'static>) -> ScopedStream<'b, 'static, 'static> { it } // <-
    fn scope<'b, 'a: 'b>(it: ScopedStream<'static, 'a, 'static>) -> ScopedStream<'static, 'b, 'static> { it } // <-
    fn gpu<'b, 'a: 'b>(it: ScopedStream<'static, 'b, 'a>) -> ScopedStream<'static, 'b, 'b> { it } // <-
}

fn main() {}
