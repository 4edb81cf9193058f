//! Twin of `fail/declared/number_where_the_ptx_declares_a_pointer.rs`.

use scoped_cuda::{InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: scoped_cuda::In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}
