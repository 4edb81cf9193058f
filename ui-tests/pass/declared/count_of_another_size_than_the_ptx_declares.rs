//! Twin of `fail/declared/count_of_another_size_than_the_ptx_declares.rs`.

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}
