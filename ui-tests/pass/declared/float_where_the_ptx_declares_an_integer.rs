//! Twin of `fail/declared/float_where_the_ptx_declares_an_integer.rs`.

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}
