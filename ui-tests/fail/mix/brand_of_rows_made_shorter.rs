//! Claim:   C1, C2
//! Misuse:  treat the lifetime of a context that rows belong to as one that may be shortened
//! In C:    an address has no lifetime
//! Real:    none known
//! rustc:   is invariant over the parameter `'ctx`
//! Reads:   as in `brand_made_shorter`, for memory in rows
//! Fix:     nothing to fix: write one lifetime where one context is meant

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;

    fn owned<'b, 'a: 'b>(it: PitchedBuffer<'a, u8>) -> PitchedBuffer<'b, u8> { it } // <-
    fn slice<'b, 'a: 'b>(it: PitchedSlice<'static, 'a, u8>) -> PitchedSlice<'static, 'b, u8> { it } // <-
    fn slice_mut<'b, 'a: 'b>(it: PitchedSliceMut<'static, 'a, u8>) -> PitchedSliceMut<'static, 'b, u8> { it } // <-
}

fn main() {}
