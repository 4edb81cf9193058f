//! Twin of `fail/mix/brand_of_rows_made_shorter.rs`.

#[rustfmt::skip]
mod every_type {
    use scoped_cuda::memory::*;

    fn owned<'b, 'a: 'b>(it: PitchedBuffer<'a, u8>) -> PitchedBuffer<'a, u8> { it }
    fn slice<'b, 'a: 'b>(it: PitchedSlice<'static, 'a, u8>) -> PitchedSlice<'static, 'a, u8> { it }
    fn slice_mut<'b, 'a: 'b>(it: PitchedSliceMut<'static, 'a, u8>) -> PitchedSliceMut<'static, 'a, u8> { it }
}
