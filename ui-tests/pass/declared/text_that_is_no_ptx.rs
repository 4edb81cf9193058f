//! Twin of `fail/declared/text_that_is_no_ptx.rs`.

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern ptx!(".version 7.0 .target sm_75 .address_size 64 .entry nothing() { ret; }") {
        unsafe fn nothing();
    }
}
