//! Twin of `fail/mix/linker_brand_made_shorter.rs`.

#[rustfmt::skip]
mod shortened {
    use scoped_cuda::*;

    fn linker<'b, 'a: 'b>(it: Linker<'a>) -> Linker<'a> { it }
}
